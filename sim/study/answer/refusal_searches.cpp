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

/// Returns the memories of other devices that are like the memory with this name: equally large, and at the same
/// position among the memories of their device. They usually hold as much.
Memories memories_like(Platform& platform, const std::string& pool) {
  Memories found;
  for (const Device& device : platform.devices) {
    const DeviceMemory* const memory = device.memory_or_null(pool);
    if (!memory || !memory->own) continue;
    const auto position = static_cast<std::size_t>(memory - device.memories.data());
    for (Device& other : platform.devices) {
      if (&other == &device || other.memories.size() <= position) continue;
      DeviceMemory& like = other.memories[position];
      if (like.own && like.capacity == memory->capacity && like.reserved == memory->reserved)
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
        pool_(shortage.pool),
        bad_(*shortage.available_bytes),
        good_(rounded_up(*shortage.needed_bytes)),
        grow_(memory_named(larger_.platform, pool_)),
        like_(memories_like(larger_.platform, pool_)),
        searches_(scenario.cut && scenario.fates && (*scenario.fates)->searches) {
    // Equal replicas stay equal. Other policies may leave some of the equal devices idle.
    if (scenario.acting->replicates) grow_others();
  }

  std::optional<EnoughBytes> find() {
    if (grow_.empty() || !find_good()) return {};
    // With a given cut, a strategy that searches names the fewest bytes of all fates. So fewer are not tried.
    if (!was_named_ || !searches_) bisect();
    return EnoughBytes{.bytes = rounded_up(good_ + grow_.front().reserved),
                       .in_equal_devices = grow_.size() > 1};
  }

 private:
  std::optional<Shortage> missing(std::int64_t bytes) {
    for (const NamedMemory& memory : grow_) *memory.capacity = bytes;
    return questions_.ask(larger_);
  }
  void grow_others() {
    grow_.insert(grow_.end(), like_.begin(), like_.end());
    like_.clear();
  }
  /// Finds a capacity that is enough. Returns false if another memory is too small, or if the search ends early.
  bool find_good() {
    while (const std::optional<Shortage> there = missing(good_)) {
      if (questions_.given_up() || !there->needed_bytes) return false;
      if (has(like_, there->pool)) {
        grow_others();
        continue;
      }
      const bool grows = has(grow_, there->pool);
      if (!grows && !of_one_device(larger_.platform, pool_, there->pool)) return false;
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
  std::string pool_;
  std::int64_t bad_, good_;
  Memories grow_;  ///< have as many bytes as the searched capacity; the first is the memory `pool_`
  Memories like_;  ///< grow, too, as soon as one of them is too small
  bool searches_;
  bool was_named_ = true;  ///< `good_` is the number of bytes that the last shortage names
  OtherQuestions questions_{12};
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
