// The note `second_memory` says that a device has several memories, but its kernels use only the first memory.
#include <algorithm>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "document/key.hpp"
#include "planning/copy_time.hpp"
#include "planning/placement/backing.hpp"
#include "planning/placement/placement_key.hpp"
#include "study/answer/note.hpp"
#include "study/answer/second_bandwidth.hpp"

namespace sluice {
namespace {

std::string rate(double bandwidth) {
  return format_quantity(bandwidth, Dimension::bytes_per_s);
}

std::uint32_t pool_of(const Plan& plan, const std::string& name) {
  for (std::uint32_t p = 0; p < plan.pools.size(); ++p)
    if (plan.pools[p].name == name) return p;
  return none;
}

/// Returns true if the body of the plan copies weights from the memory `from` to the memory `to`.
bool moves(const Plan& plan, std::uint32_t from, std::uint32_t to) {
  for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a)
    for (const Flow& flow : plan.actions[a].flows)
      if (plan.actions[a].is_transfer() && flow.from == from && flow.to == to &&
          flow.tensor != none && plan.tensors[flow.tensor].tensor_class == TensorClass::weight)
        return true;
  return false;
}

bool lies_there(const Plan& plan, std::uint32_t pool) {
  const auto is_home = [&](const Tensor& tensor) { return tensor.home == pool; };
  const auto allocates = [&](const Action& action) {
    return std::any_of(action.allocates.begin(), action.allocates.end(),
                       [&](const Placement& made) { return made.pool == pool; });
  };
  return std::any_of(plan.tensors.begin(), plan.tensors.end(), is_home) ||
         std::any_of(plan.actions.begin(), plan.actions.end(), allocates);
}

/// Returns true if links lead from `one` to `other`, and from `other` to `one`.
bool joined(const Platform& platform, const std::string& one, const std::string& other) {
  return platform.path_or_null(one, other) && platform.path_or_null(other, one);
}

/// Returns whether the scenario's policy has the key `placement`, lets weights take turns, and can use the second memory
/// of the device.
bool takes_turns_in_both(const Scenario& scenario, const Device& device) {
  const Field* const field = find_field(scenario.acting->parameters, "placement");
  return field && !compares_placements(*field) &&
         why_no_backing(scenario.platform, device.name).empty();
}

/// Says how tensors can be placed in an empty memory of the device.
std::string advice_if_empty(const AnsweredScenario& answered, const Device& device,
                            std::size_t number) {
  const std::string first = device.memory().pool, other = device.memories[number].pool;
  const std::string start = "Nothing is in '" + other + "', a memory of " + device.name +
                            ": all tensors on the device are in '" + first + "'";
  if (!joined(answered.scenario.platform, first, other))
    return start + ", and no link joins the two memories. A link between '" + first + "' and '" +
           other + "' in `links` of the platform lets tensors be placed in both memories.";
  if (number > 1)
    return start + ". Tensors can be placed only in the first two memories of a device.";
  const bool counts = answered.scenario.cost.model->counts_memories;
  if (takes_turns_in_both(answered.scenario, device))
    return start + ". policy.placement=auto" +
           (counts || answered.scenario.workload.training ? "" : " cost=roofline") +
           " also compares plans that use both memories.";
  return start + ". policy={name: resident, placement: auto}" + (counts ? "" : " cost=roofline") +
         " places tensors in both memories, and `sluice placement` says how much time this saves.";
}

/// Says that `placement: auto` did not compare placements in both memories.
std::string advice_on_bandwidth(const AnsweredScenario& answered) {
  for (const Device& device : answered.scenario.platform.devices)
    if (lacks_bandwidth(answered.scenario, device))
      return "No plan was compared in which kernels read and write tensors in '" +
             device.memories[1].pool +
             "', because the platform gives no bandwidth for this memory of " + device.name +
             ". With a bandwidth of this memory in the platform, such as bandwidth: 100GB/s, policy.placement=auto "
             "compares these plans, too.";
  return "";
}

std::string of_device(const AnsweredScenario& answered, const Device& device) {
  const Plan& plan = answered.plan;
  const std::uint32_t first = pool_of(plan, device.memory().pool);
  for (std::size_t m = 1; m < device.memories.size(); ++m) {
    const DeviceMemory& memory = device.memories[m];
    const std::uint32_t pool = pool_of(plan, memory.pool);
    if (pool == none) continue;
    if (!lies_there(plan, pool)) return advice_if_empty(answered, device, m);
    const Platform& platform = answered.scenario.platform;
    if (!moves(plan, pool, first) || !memory.read) continue;
    const double copied = copy_time(platform, memory.pool, device.memory().pool).bandwidth;
    const double units =
        copy_time(platform, memory.pool, device.memory().pool, CopyMode::synchronous).bandwidth;
    if (copied >= *memory.read) continue;
    return "Weights come from '" + memory.pool + "' over a copy engine at " + rate(copied) +
           ", but " + device.name + " can read them in place at " + rate(*memory.read) +
           (units > copied ? ", and its compute units can copy them at " + rate(units) : "") +
           ". With policy={name: resident, placement: static}, the weights that do not fit into '" +
           device.memory().pool +
           "' stay in the second memory. `sluice placement` says how much faster a run is if weights move between the "
           "two memories.";
  }
  return "";
}

std::string text(const AnsweredScenario& answered) {
  const std::vector<Fact>& facts = answered.plan.facts;
  const Fact* const compared = find_fact(facts, "placements_compared");
  const Fact* const placed = find_fact(facts, "placement");
  if ((placed && placed->shown() != backing) ||
      (compared && compared->shown().find("static") != std::string::npos))
    return "";
  std::string advice = advice_on_bandwidth(answered);
  if (!advice.empty() || compared || placed) return advice;
  for (const Device& device : answered.scenario.platform.devices)
    if (std::string said = of_device(answered, device); !said.empty()) return said;
  return "";
}

}  // namespace

extern const Note second_memory_note = {
    .name = "second_memory",
    .summary =
        "Tells if a device reaches several memories and its kernels use only the first memory. In one case, the second "
        "memory is empty. In the other case, weights are loaded from the second memory, although reading them in "
        "place would be faster. Also tells if tensors could not be placed in the second memory because the platform gives "
        "no bandwidth for it.",
    .source =
        "the copy engine of optane_server loads weights from the second memory at 2 GB/s; kernels read the same "
        "weights in place at 38.2 GB/s",
    .text = text,
};

}  // namespace sluice
