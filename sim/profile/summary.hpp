// What a profile says as a whole, and how surely.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace sluice {

/// Rows of one class of operators.
struct ClassSummary {
  std::string operator_class;
  std::size_t rows = 0, measured = 0;
  std::size_t configurations = 0;  ///< distinct, whatever the instance, its memories and the method
  double seconds = 0, joules = 0;  ///< sums of occurrences x one call
};

/// A row that was measured more than once.
struct SampledRow {
  const ProfileRow* row = nullptr;
  Spread seconds;            ///< of its samples; where only n, mean and std are known, those alone
  bool has_samples = false;  ///< else there is no MAD, no mean within 3 std
  double variation() const { return seconds.mean == 0 ? 0 : seconds.std / seconds.mean; }
};

/// One configuration that stands in several rows: instances, memories or methods differ.
struct ConfigurationSpread {
  std::string words;
  Spread seconds;  ///< of the rows' times
  double factor() const { return seconds.least == 0 ? 0 : seconds.most / seconds.least; }
};

struct ProfileSummary {
  std::size_t rows = 0, measured = 0, planned = 0, failed = 0, with_energy = 0;
  std::vector<ClassSummary> classes;          ///< the most seconds first
  std::vector<SampledRow> sampled;            ///< the greatest variation first
  std::vector<ConfigurationSpread> repeated;  ///< the greatest factor first
};

ProfileSummary summary_of(const Profile& profile);

}  // namespace sluice
