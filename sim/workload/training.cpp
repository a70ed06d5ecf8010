#include "workload/training.hpp"

#include "base/quantity.hpp"
#include "workload/workload.hpp"

namespace sluice {

namespace {

std::int64_t as(std::int64_t weight_bytes, DType from, DType to, std::int64_t copies) {
  return checked_mul(checked_mul(weight_bytes / bytes_of(from), bytes_of(to), "bytes of training"),
                     copies, "bytes of training");
}

}  // namespace

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
