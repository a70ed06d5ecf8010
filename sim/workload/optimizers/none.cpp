// Without an optimizer, gradients are summed, and the weights do not change.
#include "workload/training.hpp"

namespace sluice {

extern const Optimizer none_optimizer;
const Optimizer none_optimizer = {
    .name = "none",
    .summary = "Gradients are only summed, and weights are not updated.",
    .details =
        "Use the optimizer `none` to leave out the update. For example, compare a run with an "
        "estimate of forward and backward passes alone. Gradients need memory and time. There is "
        "no optimizer state, and weights are not written.",
    .source = "AlexNet on one card, whose estimate of training has no update",
    .example =
        "sluice run alexnet_resident workload.mode=training policy=resident workload.optimizer=none",
    .updates = false,
};

}  // namespace sluice
