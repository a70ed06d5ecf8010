#include "workload/training.hpp"

#include "base/quantity.hpp"
#include "workload/workload.hpp"

namespace sluice {

namespace {

const Optimizer none_optimizer = {
    .name = "none",
    .summary = "Gradients are summed and nothing is updated.",
    .source = "seed 000, whose estimate of training has no update",
    .updates = false,
};
// w -= rate x g
const Optimizer sgd_optimizer = {
    .name = "sgd",
    .summary = "Stochastic gradient descent without momentum: no state, 2 FLOP a parameter.",
    .source = "Robbins and Monro, A stochastic approximation method (1951)",
    .flop = 2,
};
// v = momentum x v + g; w -= rate x v
const Optimizer momentum_optimizer = {
    .name = "momentum",
    .summary = "Gradient descent with momentum: one value of state, 4 FLOP a parameter.",
    .source =
        "Sutskever, Martens, Dahl and Hinton, On the importance of initialization and "
        "momentum in deep learning (2013), equations 1 and 2",
    .states = 1,
    .flop = 4,
};
// m = b1 m + (1 - b1) g: 3; v = b2 v + (1 - b2) g g: 4; w -= rate x m / (sqrt(v) + eps): 5, with
// the corrections of the bias in the rate.
const Optimizer adam_optimizer = {
    .name = "adam",
    .summary = "Adam: two values of state, 12 FLOP a parameter.",
    .source =
        "Kingma and Ba, Adam: a method for stochastic optimization (2015), algorithm 1 and "
        "the end of section 2",
    .states = 2,
    .flop = 12,
};

std::int64_t as(std::int64_t weight_bytes, DType from, DType to, std::int64_t copies) {
  return checked_mul(checked_mul(weight_bytes / bytes_of(from), bytes_of(to), "bytes of training"),
                     copies, "bytes of training");
}

}  // namespace

const Catalog<Optimizer>& optimizer_catalog() {
  static const Catalog<Optimizer> catalog(
      "optimizer", {&sgd_optimizer, &momentum_optimizer, &adam_optimizer, &none_optimizer});
  return catalog;
}

std::string_view name_of(Mode mode) {
  return mode == Mode::training ? "training" : "inference";
}

std::int64_t Training::gradient_bytes(std::int64_t weight_bytes) const {
  return as(weight_bytes, weights, gradients, 1);
}

std::int64_t Training::optimizer_bytes(std::int64_t weight_bytes) const {
  if (!optimizer->updates) return 0;
  return as(weight_bytes, weights, states, optimizer->states + (master_weights ? 1 : 0));
}

}  // namespace sluice
