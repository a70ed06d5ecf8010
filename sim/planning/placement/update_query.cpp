#include "planning/placement/update_query.hpp"

namespace sluice {

Query update_query(const UpdatedWeights& weights, const Training& training, DType dtype,
                   const Device& device) {
  const std::int64_t state = training.optimizer_bytes(weights.bytes);
  const auto as_double = [](std::int64_t bytes) { return static_cast<double>(bytes); };
  Query query{.device = device, .dtype = dtype, .pass = Pass::update};
  query.operands = {
      {"", as_double(weights.bytes), as_double(weights.bytes), "weights of '" + weights.of + "'"},
      {"", as_double(training.gradient_bytes(weights.bytes)), 0, "their gradient"}};
  if (state > 0) query.operands.push_back({"", as_double(state), as_double(state), "their state"});
  query.work = {.flop = as_double(weights.parameters) * training.optimizer->flop};
  for (const Operand& operand : query.operands) {
    query.work.bytes += operand.read + operand.written;
    query.work.written += operand.written;
  }
  return query;
}

}  // namespace sluice
