// Without an optimizer, gradients are summed, and the weights do not change.
#include "workload/training.hpp"

namespace sluice {

extern const Optimizer none_optimizer = {
    .name = "none",
    .summary = "Gradients are only summed, and weights are not updated.",
    .details =
        "Use the optimizer `none` to leave out the update. For example, the run can then be "
        "compared with an estimate that counts only forward and backward passes. Gradients need memory and "
        "time. There is no optimizer state, and weights are not written.",
    .source = "AlexNet on one card: the estimate of training in this document has no update",
    .example =
        "sluice run alexnet_resident workload.mode=training policy=resident workload.optimizer=none",
    .updates = false,
};

}  // namespace sluice
