// An update with momentum computes v = momentum x v + g and w -= rate x v.
#include "workload/training.hpp"

namespace sluice {

extern const Optimizer momentum_optimizer = {
    .name = "momentum",
    .summary =
        "Gradient descent with momentum keeps one value of state and takes 4 FLOP per parameter.",
    .details =
        "Most image networks are trained with momentum. The state of this optimizer has one value "
        "per weight, in the element type of the state. When weights are moved, their state is "
        "moved with them.",
    .source =
        "Sutskever, Martens, Dahl and Hinton, On the importance of initialization and "
        "momentum in deep learning (2013), equations 1 and 2",
    .example =
        "sluice run alexnet_resident workload.mode=training policy=resident workload.optimizer=momentum",
    .states = 1,
    .flop = 4,
};

}  // namespace sluice
