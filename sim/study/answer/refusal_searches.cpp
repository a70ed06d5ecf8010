#include "study/answer/refusal_searches.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/fit_search.hpp"
#include "base/interrupt.hpp"
#include "scenario/fit_question.hpp"
#include "scenario/scenario.hpp"

namespace sluice {
namespace {

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

/// A memory whose name is that of its pool, and its capacity in a platform.
struct NamedMemory {
  std::string pool;
  std::optional<std::int64_t>* capacity;  ///< without the reserved bytes
  std::int64_t reserved = 0;
};
using Memories = std::vector<NamedMemory>;

/// Returns the memory with this name.
Memories memory_named(Platform& platform, const std::string& pool) {
  Memories found;
  for (Memory& memory : platform.memories)
    if (memory.name == pool) found.push_back({memory.name, &memory.capacity});
  for (Device& device : platform.devices)
    for (DeviceMemory& memory : device.memories)
      if (memory.pool == pool) found.push_back({memory.pool, &memory.capacity, memory.reserved});
  return found;
}

/// Returns the names of the devices that the policy's key `devices` lists, or nothing if the scenario has no such key.
std::vector<std::string> listed_devices(const Scenario& scenario) {
  std::vector<std::string> names;
  const Value* policy = scenario.document.find("policy");
  const Value* devices = policy && !policy->is_scalar() ? policy->find("devices") : nullptr;
  if (devices)
    for (const Value& name : devices->items()) names.push_back(name.text());
  return names;
}

/// Returns the memories of other devices that are like the memory with this name: their capacity is the same, and so is
/// their position among the memories of their device. They usually hold as much. If the policy lists its devices, only
/// those count.
Memories memories_like(Scenario& scenario, const std::string& pool) {
  Memories found;
  const std::vector<std::string> listed = listed_devices(scenario);
  const auto all_bytes = [](const DeviceMemory& memory) {
    return memory.capacity.value_or(0) + memory.reserved;
  };
  for (const Device& device : scenario.platform.devices) {
    const DeviceMemory* const memory = device.memory_or_null(pool);
    if (!memory || !memory->own || !memory->capacity) continue;
    const auto position = static_cast<std::size_t>(memory - device.memories.data());
    for (Device& other : scenario.platform.devices) {
      if (&other == &device || other.memories.size() <= position) continue;
      if (!listed.empty() && std::ranges::count(listed, other.name) == 0) continue;
      DeviceMemory& like = other.memories[position];
      if (like.own && like.capacity && all_bytes(like) == all_bytes(*memory))
        found.push_back({like.pool, &like.capacity, like.reserved});
    }
  }
  return found;
}

bool has(const Memories& memories, const std::string& pool) {
  return std::ranges::count(memories, pool, &NamedMemory::pool) > 0;
}

/// Returns whether both memories belong to one device.
bool of_one_device(const Platform& platform, const std::string& pool, const std::string& other) {
  return std::ranges::any_of(platform.devices, [&](const Device& device) {
    return device.memory_or_null(pool) && device.memory_or_null(other);
  });
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

/// Searches for the least capacity of a memory with which the plan of a question fits.
class EnoughMemory {
 public:
  EnoughMemory(const Scenario& scenario, const Shortage& shortage)
      : larger_(scenario),
        shortage_(shortage),
        grow_(memory_named(larger_.platform, shortage.pool)),
        like_(memories_like(larger_, shortage.pool)),
        searches_(scenario.cut && scenario.fates && (*scenario.fates)->searches) {
    // Replicas on unlike devices are planned one by one, which takes long, so equal devices stay equal. Under other
    // policies, some of them may compute nothing.
    if (scenario.acting->replicates) grow_others();
  }

  std::optional<EnoughBytes> find() {
    if (grow_.empty()) return {};
    bool found = find_good(like_.empty() ? all_asked : few_asked);
    if (!found && !like_.empty()) {
      grow_others();
      found = find_good(all_asked);
    }
    if (!found) return {};
    // With a given cut, a strategy that searches names the fewest bytes of all fates. So fewer are not tried.
    if (!was_named_ || !searches_) bisect();
    EnoughBytes enough{.bytes = rounded_up(good_ + grow_.front().reserved)};
    for (std::size_t k = 1; k < grow_.size(); ++k) enough.also.push_back(grow_[k].pool);
    return enough;
  }

 private:
  static constexpr std::int64_t all_asked = 12, few_asked = 4;

  /// Gives all memories in `grow_` the same capacity. In the first of them, this leaves `bytes` that are not reserved.
  std::optional<Shortage> missing(std::int64_t bytes) {
    for (const NamedMemory& memory : grow_)
      *memory.capacity =
          std::max<std::int64_t>(1, bytes + grow_.front().reserved - memory.reserved);
    return questions_.ask(larger_);
  }
  void grow_others() {
    grow_.insert(grow_.end(), like_.begin(), like_.end());
    like_.clear();
  }
  /// Finds a capacity that is enough, with at most this number of questions. Returns false if another memory is too
  /// small, or if the search ends early.
  bool find_good(std::int64_t most_asked) {
    questions_ = OtherQuestions(most_asked);
    bad_ = *shortage_.available_bytes;
    good_ = rounded_up(*shortage_.needed_bytes);
    was_named_ = true;
    while (const std::optional<Shortage> there = missing(good_)) {
      if (questions_.given_up() || !there->needed_bytes) return false;
      const bool grows = has(grow_, there->pool);
      if (!grows && (has(like_, there->pool) ||
                     !of_one_device(larger_.platform, shortage_.pool, there->pool)))
        return false;
      bad_ = good_;
      const std::int64_t by_an_eighth = good_ + good_ / 8 + 1;
      was_named_ = grows && *there->needed_bytes >= by_an_eighth;
      good_ = rounded_up(was_named_ ? *there->needed_bytes : by_an_eighth);
    }
    return true;
  }
  /// Makes the capacity smaller, until the greatest that is known to be too small differs from it by at most 3 %. Each
  /// test is at the geometric mean of the two, because they may differ by a large factor.
  void bisect() {
    while (good_ - bad_ > std::max(unit_of(good_), good_ / 32) && !questions_.given_up()) {
      const double mean = std::sqrt(static_cast<double>(good_)) *
                          std::sqrt(std::max(static_cast<double>(bad_), 1.0));
      const std::int64_t middle = rounded_up(static_cast<std::int64_t>(mean));
      if (middle <= bad_ || middle >= good_) return;
      (missing(middle) ? bad_ : good_) = middle;
    }
  }

  Scenario larger_;
  const Shortage& shortage_;
  std::int64_t bad_ = 0, good_ = 0;
  Memories
      grow_;  ///< these memories become larger together; the first is the one that is too small
  Memories like_;  ///< these become larger, too, if it is not enough that those in `grow_` do
  bool searches_;
  bool was_named_ = true;  ///< whether `good_` is the number of bytes that the last shortage names
  OtherQuestions questions_{all_asked};
};

}  // namespace

std::int64_t batch_unit(const Workload& workload) {
  return workload.micro_batch == workload.batch ? 1 : workload.micro_batch;
}

/// The search first tries the batch (requested batch) x (available bytes) / (needed bytes).
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

std::optional<EnoughBytes> enough_memory(const Scenario& scenario, const Shortage& shortage) try {
  return EnoughMemory(scenario, shortage).find();
} catch (const InputError&) {  // with more memory, another limit is exceeded
  return {};
}

}  // namespace sluice
