#include "study/answer/refusal.hpp"

#include <algorithm>
#include <cmath>

#include "base/bisection.hpp"
#include "base/fit_search.hpp"
#include "base/interrupt.hpp"
#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "scenario/fast_limit.hpp"
#include "scenario/fit_question.hpp"
#include "study/answer/second_bandwidth.hpp"

namespace sluice {
namespace {

/// Returns where memory is missing, as a text such as " in gpu". If it is not known which memory is too small, returns
/// "".
std::string in_pool(const Refusal& refusal) {
  return refusal.pool.empty() ? "" : " in " + refusal.pool;
}

/// Asks questions that differ from the refused question. Stops when the work of planning reaches a limit.
class OtherQuestions {
 public:
  explicit OtherQuestions(std::int64_t most_asked) : most_asked_(most_asked) {}

  /// Returns true if the search has done too much work and must end. There is no limit of seconds, because the answer
  /// would then depend on how busy the machine is.
  bool given_up() const { return asked_ >= most_asked_ || actions_ > 400'000; }

  /// Returns what is missing, or nothing if the plan of the question fits. Throws InputError.
  std::optional<Shortage> ask(const Scenario& scenario) {
    check_interrupt();
    ++asked_;
    const FitQuestion question = ask_whether_fits(scenario);
    actions_ += question.actions;
    return question.missing;
  }

 private:
  std::int64_t most_asked_, asked_ = 0, actions_ = 0;
};

FitAnswer lacking(const Shortage& shortage) {
  if (!shortage.needed_bytes || !shortage.available_bytes) return {};
  return {.fits = false,
          .needed = static_cast<double>(*shortage.needed_bytes),
          .available = static_cast<double>(*shortage.available_bytes)};
}

FitAnswer ask_batch(OtherQuestions& questions, Scenario scenario, std::int64_t batch) {
  Workload& workload = scenario.workload;
  if (workload.micro_batch == workload.batch) workload.micro_batch = batch;
  workload.batch = batch;
  try {
    const std::optional<Shortage> shortage = questions.ask(scenario);
    return shortage ? lacking(*shortage) : FitAnswer{.fits = true};
  } catch (const InputError&) {  // The replicas cannot share this batch equally.
    return {};
  }
}

/// Returns of which number of samples the searched batch is a multiple.
std::int64_t batch_unit(const Workload& workload) {
  return workload.micro_batch == workload.batch ? 1 : workload.micro_batch;
}

/// Finds the largest batch that fits. Returns nullopt if the search must end before it finds this batch. The search
/// first tries the batch (requested batch) x (available bytes) / (needed bytes).
std::optional<std::int64_t> largest_batch(const Scenario& scenario, const Shortage& shortage) {
  const Workload& workload = scenario.workload;
  if (scenario.cost->only_samples(scenario.model) > 0) return {};
  const std::int64_t unit = batch_unit(workload);
  const std::int64_t units_asked = workload.batch / unit, limit = units_asked - 1;
  if (limit < 1) return 0;
  OtherQuestions questions(17);
  const FitAnswer asked = lacking(shortage);
  const double share = asked.needed > 0 ? asked.available / asked.needed : 0.5;
  const auto first = static_cast<std::int64_t>(static_cast<double>(units_asked) * share);
  const std::int64_t most = largest_by_needs(first, limit, [&](std::int64_t units) {
    return questions.given_up() ? FitAnswer() : ask_batch(questions, scenario, units * unit);
  });
  if (questions.given_up()) return {};
  return most * unit;
}

/// A memory whose name is that of its pool, and its capacity in a platform.
struct NamedCapacity {
  std::string pool;
  std::optional<std::int64_t>* capacity;
};
using Capacities = std::vector<NamedCapacity>;

/// Returns the memory with this name. If it belongs to a device, also returns the memories of other devices with as many
/// bytes: they usually hold as much.
Capacities capacities_like(Platform& platform, const std::string& pool) {
  Capacities found;
  for (Memory& memory : platform.memories)
    if (memory.name == pool) found.push_back({memory.name, &memory.capacity});
  const bool shared = !found.empty();
  std::optional<std::int64_t> capacity;
  for (const Device& device : platform.devices)
    if (const DeviceMemory* memory = device.memory_or_null(pool)) capacity = memory->capacity;
  for (Device& device : platform.devices)
    for (DeviceMemory& memory : device.memories)
      if (memory.pool == pool || (memory.own && !shared && memory.capacity == capacity))
        found.push_back({memory.pool, &memory.capacity});
  return found;
}

/// Returns whether the limit `memory.fast` is why bytes are lacking. More memory is then not used.
bool limits_fast_memory(const Scenario& scenario, const Shortage& shortage) {
  const std::optional<std::int64_t> limit = fast_limit(scenario);
  return limit && shortage.available_bytes == *limit;
}

/// Returns a text about the other devices whose memory also has to be larger: " and in each other device with equally
/// much memory", or "" if there are none.
std::string equal_memories(const Scenario& scenario, const std::string& pool) {
  Platform platform = scenario.platform;
  return capacities_like(platform, pool).size() > 1
             ? " and in each other device with equally much memory"
             : "";
}

/// Returns the power of ten by which numbers of bytes are counted that people read with four digits.
std::int64_t unit_of(std::int64_t bytes) {
  std::int64_t unit = 1;
  while (bytes / unit >= 10'000) unit *= 10;
  return unit;
}

std::int64_t rounded_up(std::int64_t bytes) {
  const std::int64_t unit = unit_of(bytes);
  return (bytes - 1) / unit * unit + unit;
}

/// Returns a number of bytes with which the memory that is too small is large enough. The number has four digits, and
/// is the least that was found. A shortage says only what the first plan lacks that does not fit, so each number is
/// tested. Returns nothing if the search ends early, or if another memory is too small, too.
std::optional<std::int64_t> enough_memory(const Scenario& scenario, const Shortage& shortage) try {
  Scenario larger = scenario;
  const Capacities capacities = capacities_like(larger.platform, shortage.pool);
  OtherQuestions questions(12);
  const auto missing = [&](std::int64_t bytes) {
    for (const NamedCapacity& memory : capacities) *memory.capacity = bytes;
    return questions.ask(larger);
  };
  std::int64_t bad = *shortage.available_bytes, good = rounded_up(*shortage.needed_bytes);
  bool was_named = true;  // `good` is the number of bytes that the last shortage names
  while (const std::optional<Shortage> there = missing(good)) {
    const bool grows = there->needed_bytes &&
                       std::ranges::count(capacities, there->pool, &NamedCapacity::pool) > 0;
    if (!grows || questions.given_up()) return {};
    bad = good;
    const std::int64_t by_an_eighth = good + good / 8 + 1;
    was_named = *there->needed_bytes >= by_an_eighth;
    good = rounded_up(std::max(*there->needed_bytes, by_an_eighth));
  }
  // With a given cut, a strategy that searches names the fewest bytes of all fates. So fewer are not tried.
  if (was_named && scenario.cut && scenario.fates && (*scenario.fates)->searches) return good;
  const std::int64_t unit = std::max(unit_of(good), rounded_up((good - bad) / 16 + 1));
  const std::int64_t saved = largest_that_fits(0, (good - bad) / unit + 1, [&](std::int64_t units) {
    return good - units * unit > bad && !questions.given_up() && !missing(good - units * unit);
  });
  return good - saved * unit;
} catch (const InputError&) {  // with more memory, another limit is exceeded
  return {};
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
                      in_pool(refusal) + equal_memories(scenario, infeasible.shortage.pool));
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
  if (const std::string waiter = first_waiter(infeasible.shortage); !waiter.empty())
    if (!infeasible.shortage.most_in_flight)  // otherwise the headline says what is too much
      refusal.headline += ": " + waiter;
  // If `shortage` is empty, no memory is too small: the plan breaks another limit. So no smaller batch is tried.
  const bool lacks_memory = !(infeasible.shortage == Shortage{});
  if (lacks_memory && most_in_flight(infeasible) == 0)
    refusal.largest_batch = largest_batch(scenario, infeasible.shortage);
  if (infeasible.shortage.needed_bytes && infeasible.shortage.available_bytes &&
      !limits_fast_memory(scenario, infeasible.shortage))
    refusal.enough_bytes = enough_memory(scenario, infeasible.shortage);
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
