// Summarises a profile: its sums, and how much repeated measurements differ.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace sluice {

/// The rows of one class of operators.
struct ClassSummary {
  std::string operator_class;
  std::size_t rows = 0, measured = 0;
  /// The number of different configurations. Two rows have the same configuration if they differ only in the instance
  /// of the operator, the model, the memories, the cache or the method.
  std::size_t configurations = 0;
  /// The sums over all rows. A row adds the value of one call times its `occurrences`.
  double seconds = 0, joules = 0;
};

/// A row that was measured more than once.
struct SampledRow {
  const ProfileRow* row = nullptr;
  /// The spread of the measured seconds. If the profile does not hold the individual samples, only n, mean, median and
  /// std are known, and all other fields are 0.
  Spread seconds;
  bool has_samples = false;  ///< whether MAD and mean_within are known
  double variation() const { return seconds.mean == 0 ? 0 : seconds.std / seconds.mean; }
};

/// A configuration that several rows have. These rows differ in the instance of the operator, the model, the memories,
/// the cache or the method.
struct ConfigurationSpread {
  std::string words;
  Spread seconds;  ///< the spread of the times of the rows
  double factor() const { return seconds.least == 0 ? 0 : seconds.most / seconds.least; }
};

struct ProfileSummary {
  std::size_t rows = 0, measured = 0, planned = 0, failed = 0, with_energy = 0;
  std::vector<ClassSummary> classes;  ///< classes with the most seconds come first
  std::vector<SampledRow> sampled;    ///< rows with the greatest variation come first
  /// Configurations with the greatest factor() come first.
  std::vector<ConfigurationSpread> repeated;
};

ProfileSummary summary_of(const Profile& profile);

}  // namespace sluice
