#include "study/answer/refusal.hpp"

#include <algorithm>
#include <cmath>

#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "scenario/fast_limit.hpp"
#include "study/answer/refusal_searches.hpp"
#include "study/answer/second_bandwidth.hpp"

namespace sluice {
namespace {

/// Returns where memory is missing, as a text such as " in gpu". If it is not known which memory is too small, returns
/// "".
std::string in_pool(const Refusal& refusal) {
  return refusal.pool.empty() ? "" : " in " + refusal.pool;
}

/// Returns a text about further memories, such as " and in gpu1".
std::string and_in(const std::vector<std::string>& pools) {
  constexpr std::size_t most_named = 4;
  if (pools.empty()) return "";
  if (pools.size() <= most_named) return " and in " + join(pools);
  return " and in " + std::to_string(pools.size()) + " other devices with equally much memory";
}

/// Returns whether the limit `memory.fast` is why bytes are lacking. More memory is then not used.
bool limits_fast_memory(const Scenario& scenario, const Shortage& shortage) {
  const std::optional<std::int64_t> limit = fast_limit(scenario);
  return limit && shortage.available_bytes == *limit;
}

/// If the run does not fit because too many micro-batches are in flight, returns the greatest number of micro-batches
/// in flight that fits. If there is another reason, returns 0.
std::int64_t most_in_flight(const Infeasible& infeasible) {
  return infeasible.shortage.most_in_flight.value_or(0);
}

/// Returns a text about the first action that waits for memory, such as "2LOAD on gpu.host.down waits for 3.3 GB for
/// weights.2 in gpu". If no action waits for memory, returns "".
std::string first_waiter(const Shortage& shortage) {
  for (const Shortage::Waiter& waiter : shortage.waiters)
    if (!waiter.pool.empty())
      return waiter.action + " on " + waiter.stream + " waits for " + format_bytes(waiter.bytes) +
             (waiter.tensors.empty() ? "" : " for " + waiter.tensors.front()) + " in " +
             waiter.pool;
  return "";
}

std::optional<TensorClass> culprit_of(const Shortage& shortage) {
  const auto most =
      std::max_element(shortage.by_class.begin(), shortage.by_class.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  for (int c = 0; c < tensor_class_count && most != shortage.by_class.end(); ++c)
    if (most->first == name_of(static_cast<TensorClass>(c))) return static_cast<TensorClass>(c);
  return {};
}

/// Returns true if the scenario says which weights stay on the device, and lets some stay.
bool weights_stay_as_given(const Scenario& scenario) {
  const Value* policy = scenario.document.find("policy");
  const Value* resident = policy ? policy->find("resident") : nullptr;
  if (!resident) return false;
  return !resident->is_scalar() || (resident->text() != "auto" && resident->text() != "none");
}

/// Returns true if the policy runs on one device and keeps the weights of all stages there. Other policies for one
/// device let a scenario say which weights stay.
bool all_weights_stay(const Scenario& scenario) {
  const Policy& policy = *scenario.acting;
  return !policy.all_devices &&
         std::ranges::count(policy.parameters, "resident", &Field::name) == 0;
}

/// Adds changes after which each parameter of the model takes fewer bytes.
void advise_on_parameters(const Workload& workload, std::vector<std::string>& changes) {
  if (workload.dtype == DType::float32)
    changes.push_back("workload.dtype=float16 (half of the bytes)");
  if (workload.training && workload.training->optimizer->states > 0)
    changes.push_back("workload.optimizer=sgd (no state)");
}

void advise_on_weights(const Scenario& scenario, std::vector<std::string>& changes) {
  if (weights_stay_as_given(scenario))
    changes.push_back("policy.resident=auto (Sluice chooses which weights stay)");
  if (all_weights_stay(scenario))
    changes.push_back("policy.name=streamed (weights take turns on the device)");
  else if (scenario.cut)
    changes.push_back("stages={cut: auto} (smaller groups)");
  advise_on_parameters(scenario.workload, changes);
}

/// A scenario may leave the placement open, and the cost model may count the bandwidths of memories. If the platform
/// then gives no bandwidth for a second memory of a device, no tensors are placed in this memory.
void advise_on_second_memory(const Scenario& scenario, const Refusal& refusal,
                             std::vector<std::string>& changes) {
  for (const Device& device : scenario.platform.devices)
    if (device.memory().pool == refusal.pool && lacks_bandwidth(scenario, device)) {
      changes.push_back("a bandwidth of memory '" + device.memories[1].pool +
                        "' in the platform (without it, no tensors are placed there)");
      return;
    }
}

void advise_on_activations(const Scenario& scenario, std::vector<std::string>& changes) {
  const Workload& workload = scenario.workload;
  if (!workload.training) {
    if (workload.micro_batch > 1) changes.push_back("a smaller workload.micro_batch");
    return;
  }
  const FateStrategy* const now = scenario.fates ? &**scenario.fates : nullptr;
  if (now == &fate_catalog().find("recompute_all"))
    changes.push_back(
        "fates.strategy=checkpoint (the backward pass of recompute_all has all activations in memory at once)");
  else if (now && !now->searches)
    changes.push_back(
        "fates.strategy=optimal (each activation is kept, recomputed or offloaded, whichever is cheapest)");
  if (workload.micro_batch > 1) changes.push_back("a smaller workload.micro_batch");
}

/// Returns the name of the memory that is too small. If `shortage` does not name this memory, returns the name of the
/// only device, or "" if there are several devices.
std::string pool_of(const Scenario& scenario, const Shortage& shortage) {
  const bool known = !shortage.pool.empty() || scenario.platform.devices.size() != 1;
  return known ? shortage.pool : scenario.platform.devices.front().name;
}

/// Returns true if the memory is outside of the devices. Then another cut does not help, because such a memory holds
/// the same tensors with every cut.
bool is_beside(const Scenario& scenario, const std::string& pool) {
  const std::vector<Memory>& memories = scenario.platform.memories;
  return std::any_of(memories.begin(), memories.end(),
                     [&](const Memory& memory) { return memory.name == pool; });
}

std::vector<std::string> changes_beside(const Scenario& scenario, const Shortage& shortage,
                                        const Refusal& refusal) {
  std::vector<std::string> changes;
  if (refusal.enough_bytes)
    changes.push_back("platform.memories." + shortage.pool +
                      ".capacity=" + std::to_string(*refusal.enough_bytes) + "B");
  if (refusal.largest_batch.value_or(0) > 0)
    changes.push_back("workload.batch=" + std::to_string(*refusal.largest_batch));
  advise_on_parameters(scenario.workload, changes);
  return changes;
}

std::vector<std::string> changes_for(const Scenario& scenario, const Infeasible& infeasible,
                                     const Refusal& refusal) {
  if (is_beside(scenario, infeasible.shortage.pool))
    return changes_beside(scenario, infeasible.shortage, refusal);
  std::vector<std::string> changes;
  if (const std::int64_t most = most_in_flight(infeasible); most > 0)
    changes.push_back("policy.in_flight=" + std::to_string(most));
  if (refusal.largest_batch.value_or(0) > 0)
    changes.push_back("workload.batch=" + std::to_string(*refusal.largest_batch));
  if (refusal.culprit == TensorClass::kv_cache)
    changes.push_back("fewer model.cached tokens, whose keys and values stay on the device");
  else if (refusal.culprit == TensorClass::weight || refusal.culprit == TensorClass::gradient ||
           refusal.culprit == TensorClass::optimizer)
    advise_on_weights(scenario, changes);
  else if (refusal.culprit)
    advise_on_activations(scenario, changes);
  advise_on_second_memory(scenario, refusal, changes);
  if (refusal.enough_bytes)
    changes.push_back("at least " + format_bytes(*refusal.enough_bytes) + " of memory" +
                      in_pool(refusal) + and_in(refusal.enough_also));
  else if (infeasible.shortage.needed_bytes && !limits_fast_memory(scenario, infeasible.shortage))
    changes.push_back("more memory" + in_pool(refusal) + ": " +
                      format_bytes(*infeasible.shortage.needed_bytes) +
                      " is what the first shortage needs, and may be too little");
  if (const std::optional<std::int64_t> limit = fast_limit(scenario))
    changes.push_back("a larger memory.fast, which is " + format_bytes(*limit) + " now");
  return changes;
}

std::string classes_of(const Shortage& shortage) {
  std::vector<std::pair<std::string, std::int64_t>> classes = shortage.by_class;
  std::stable_sort(classes.begin(), classes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [name, count] : classes) parts.push_back(name + " " + format_bytes(count));
  return join(parts);
}

}  // namespace

Refusal refusal_of(const Scenario& scenario, const Infeasible& infeasible) {
  Refusal refusal{.headline = infeasible.headline(),
                  .culprit = culprit_of(infeasible.shortage),
                  .pool = pool_of(scenario, infeasible.shortage),
                  .batch_unit = batch_unit(scenario.workload)};
  for (const Device& device : scenario.platform.devices)
    if (const DeviceMemory* memory = device.memory_or_null(refusal.pool))
      refusal.reserved_bytes = memory->reserved;
  if (const std::string waiter = first_waiter(infeasible.shortage); !waiter.empty())
    if (!infeasible.shortage.most_in_flight)  // otherwise the headline says what is too much
      refusal.headline += ": " + waiter;
  // If `shortage` is empty, no memory is too small: the plan breaks another limit. So no smaller batch is tried.
  const bool lacks_memory = !(infeasible.shortage == Shortage{});
  if (lacks_memory && most_in_flight(infeasible) == 0)
    refusal.largest_batch = largest_batch(scenario, infeasible.shortage);
  if (infeasible.shortage.needed_bytes && infeasible.shortage.available_bytes &&
      !limits_fast_memory(scenario, infeasible.shortage))
    if (const std::optional<EnoughBytes> enough = enough_memory(scenario, infeasible.shortage)) {
      refusal.enough_bytes = enough->bytes;
      refusal.enough_also = enough->also;
    }
  refusal.changes = changes_for(scenario, infeasible, refusal);
  return refusal;
}

std::string refusal_text(const Refusal& refusal, const Infeasible& infeasible) {
  const Shortage& shortage = infeasible.shortage;
  std::string text = refusal.headline;
  if (shortage.needed_bytes && shortage.available_bytes) {
    text += "\n  needed" + in_pool(refusal) + ": " + format_bytes(*shortage.needed_bytes) + ", " +
            format_bytes(*shortage.needed_bytes - *shortage.available_bytes) + " more than its " +
            format_bytes(*shortage.available_bytes);
    if (refusal.reserved_bytes > 0)
      text += " (" + format_bytes(refusal.reserved_bytes) + " more are reserved)";
    if (const std::string classes = classes_of(shortage); !classes.empty()) text += ": " + classes;
  }
  if (const std::int64_t most = most_in_flight(infeasible); most > 0)
    text += "\n  the greatest number of micro-batches in flight that fits: " + std::to_string(most);
  if (refusal.largest_batch)
    text += *refusal.largest_batch > 0
                ? "\n  the largest batch that fits: " + std::to_string(*refusal.largest_batch)
            : refusal.batch_unit > 1
                ? "\n  no smaller batch in micro-batches of " + std::to_string(refusal.batch_unit) +
                      " samples fits if nothing else is changed"
                : "\n  not even one sample fits if nothing else is changed";
  if (!refusal.changes.empty()) text += "\n  what helps: " + join(refusal.changes, "; or ");
  return text + " (in full: --json)";
}

}  // namespace sluice
