// An update of Adam has three parts, whose FLOP are given here per parameter. The part
// m = b1 m + (1 - b1) g takes 3 FLOP. The part v = b2 v + (1 - b2) g g takes 4 FLOP. The part
// w -= rate x m / (sqrt(v) + eps) takes 5 FLOP. The rate in this part contains the bias corrections.
#include "workload/training.hpp"

namespace sluice {

extern const Optimizer adam_optimizer = {
    .name = "adam",
    .summary = "Adam keeps two values of state and takes 12 FLOP per parameter.",
    .details =
        "Use Adam for networks that are trained with Adam, such as transformers. Adam also stands "
        "for other rules with two moments. The state of Adam has two values per weight, each in the "
        "element type of the state. The state is often the largest part of the memory, for example with "
        "float16 weights, float32 state and a float32 copy of the weights.",
    .source =
        "Kingma and Ba, Adam: a method for stochastic optimization (2015), algorithm 1 and the end of section 2",
    .example =
        "sluice run alexnet_resident workload.mode=training policy=resident workload.optimizer=adam",
    .states = 2,
    .flop = 12,
};

}  // namespace sluice
