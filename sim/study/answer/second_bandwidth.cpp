#include "study/answer/second_bandwidth.hpp"

#include "document/key.hpp"
#include "planning/placement/backing.hpp"

namespace sluice {

bool lacks_bandwidth(const Scenario& scenario, const Device& device) {
  if (!find_field(scenario.acting->parameters, "placement") ||
      !scenario.cost.model->counts_memories)
    return false;
  const Value* policy = scenario.document.find("policy");
  const Value* placement = policy ? policy->find("placement") : nullptr;
  if (placement && placement->is_scalar() && placement->text() != "auto") return false;
  return device.memories.size() > 1 && !device.memories[1].bandwidth() &&
         why_no_backing(scenario.platform, device.name).empty();
}

}  // namespace sluice
