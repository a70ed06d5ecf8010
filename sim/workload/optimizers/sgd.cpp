// An update of gradient descent without momentum computes w -= rate x g.
#include "workload/training.hpp"

namespace sluice {

extern const Optimizer sgd_optimizer = {
    .name = "sgd",
    .summary =
        "Stochastic gradient descent without momentum keeps no state and takes 2 FLOP per parameter.",
    .details =
        "Use this optimizer to see the least memory that training with an update needs. The optimizer "
        "has no state. The device holds only a weight and a gradient for each parameter. "
        "An update reads weights and gradients, and writes weights.",
    .source = "Robbins and Monro, A stochastic approximation method (1951)",
    .example =
        "sluice run alexnet_resident workload.mode=training policy=resident workload.optimizer=sgd",
    .flop = 2,
};

}  // namespace sluice
