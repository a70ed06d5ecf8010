#include "planning/placement/update_query.hpp"

namespace sluice {

Query update_query(const Layer& layer, std::int64_t weight_bytes, const Training& training,
                   DType dtype, const Device& device) {
  const std::int64_t state = training.optimizer_bytes(weight_bytes);
  const auto as_double = [](std::int64_t bytes) { return static_cast<double>(bytes); };
  Query query{.device = device, .dtype = dtype, .pass = Pass::update};
  query.operands = {
      {"", as_double(weight_bytes), as_double(weight_bytes), "weights of '" + layer.name + "'"},
      {"", as_double(training.gradient_bytes(weight_bytes)), 0, "their gradient"}};
  if (state > 0) query.operands.push_back({"", as_double(state), as_double(state), "their state"});
  query.work = {.flop = as_double(layer.parameters) * training.optimizer->flop};
  for (const Operand& operand : query.operands) {
    query.work.bytes += operand.read + operand.written;
    query.work.written += operand.written;
  }
  return query;
}

}  // namespace sluice
