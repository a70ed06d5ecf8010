// What a search varies: a key of the scenario, and the values among which the best is looked for.
#pragma once

#include <string>
#include <vector>

#include "study/sweep/axis.hpp"

namespace sluice {

struct SearchKey {
  enum class Kind {
    listed,  ///< a few values without an order: each is tried with each of the other keys
    whole,   ///< whole numbers from low to high
    real,    ///< any number from low to high
  };
  std::string key;  ///< with dots: "workload.batch"
  Kind kind = Kind::listed;
  std::vector<std::string> values;  ///< listed: as they stand behind KEY=
  double low = 0, high = 0;         ///< whole, real; low < high
  std::string unit;                 ///< behind each number
  bool bytes = false;               ///< real, and what is written is a whole number of bytes

  /// How many values it has; of real numbers, infinity.
  double count() const;
  /// Real numbers of a range that spans a factor of ten or more are looked for by their logarithm.
  bool by_logarithm() const { return low > 0 && high >= 10 * low; }
  /// The number at a share, 0 to 1, of the range: a whole one, or one of seven significant digits.
  double number_at(double share) const;
  /// What stands behind KEY= for that number.
  std::string text_of(double number) const;
  std::string text_at(double share) const { return text_of(number_at(share)); }
  /// The share of the range that a number is at.
  double share_of(double number) const;
};

/// KEY=lo..hi     any number where an end has a unit or a fraction, otherwise whole numbers
/// KEY=a,b,c      these; KEY=lo..hi:n and KEY=lo..hi*f list values, too, as in a sweep
/// Throws UsageError.
SearchKey parse_search_key(const std::string& word);

}  // namespace sluice
