#include "run/labels.hpp"

#include "base/large_pages.hpp"

namespace sluice {

Labels labels_of(const Plan& plan) {
  Labels labels;
  for (const Stream& stream : plan.streams)
    labels.streams.push_back(
        {stream.name, stream.kind == StreamKind::compute ? "compute" : "copy", stream.device});
  for (const Pool& pool : plan.pools)
    labels.pools.push_back({pool.name, pool.capacity.value_or(-1)});
  for (const Tensor& tensor : plan.tensors)
    labels.tensors.push_back(
        {tensor.name, std::string(name_of(tensor.tensor_class)), tensor.bytes});
  labels.actions.reserve(plan.actions.size());
  prefer_large_pages(labels.actions.data(), plan.actions.size() * sizeof(Labels::Action));
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    const Action& action = plan.actions[a];
    labels.actions.push_back({name_of(action), std::string(name_of(action.kind)),
                              std::string(name_of(plan.section_of(a))), action.stream, action.stage,
                              action.micro_batch, action.moved_bytes(), action.flop});
  }
  labels.stages = plan.stages;
  return labels;
}

}  // namespace sluice
