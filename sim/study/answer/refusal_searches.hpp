// Searches for changes of a question after which its plan fits. Each search asks several questions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

struct Scenario;
struct Shortage;
struct Workload;

/// A capacity of the memory that is too small. It is enough, and hardly more than enough.
struct EnoughBytes {
  /// With the bytes that the platform reserves. The number has four digits.
  std::int64_t bytes = 0;
  /// The equally large memories of other devices that need this capacity, too.
  std::vector<std::string> also = {};
};

/// Returns of which number of samples the searched batch is a multiple.
std::int64_t batch_unit(const Workload& workload);

/// Returns the largest batch that fits, or 0 if none does. Returns nullopt if the search must end before it finds this
/// batch. Throws Interrupted.
std::optional<std::int64_t> largest_batch(const Scenario& scenario, const Shortage& shortage);

/// Returns a capacity with which the memory that is too small is large enough. `shortage` must have the needed and the
/// available bytes. It says only what the first plan lacks that does not fit, so each capacity is tested. Returns
/// nothing if the search ends early, or if another memory is too small, too. Throws Interrupted.
std::optional<EnoughBytes> enough_memory(const Scenario& scenario, const Shortage& shortage);

}  // namespace sluice
