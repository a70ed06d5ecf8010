// Summarises the numbers of a profile, and says how certain the numbers are.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace sluice {

/// The rows of one class of operators.
struct ClassSummary {
  std::string operator_class;
  std::size_t rows = 0, measured = 0;
  /// The number of different configurations. Rows that differ only in instance, model, memories, cache or method have
  /// the same configuration.
  std::size_t configurations = 0;
  /// The sums over all rows. A row adds its occurrences times its value per call.
  double seconds = 0, joules = 0;
};

/// A row that was measured more than once.
struct SampledRow {
  const ProfileRow* row = nullptr;
  /// The spread of the samples. If the row has no samples, all fields except n, mean, median and std are 0.
  Spread seconds;
  bool has_samples = false;  ///< whether MAD and mean_within are known
  double variation() const { return seconds.mean == 0 ? 0 : seconds.std / seconds.mean; }
};

/// A configuration that occurs in several rows. The rows differ in instance, model, memories, cache or method.
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
