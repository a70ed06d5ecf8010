// A key of the scenario that a search varies, and the range or the list of its values.
#pragma once

#include <string>
#include <vector>

#include "study/sweep/axis.hpp"

namespace sluice {

struct SearchKey {
  enum class Kind {
    /// A few values without an order. They are combined with all values of the other keys.
    listed,
    whole,  ///< whole numbers from low to high
    real,   ///< real numbers from low to high
  };
  std::string key;  ///< with dots: "workload.batch"
  Kind kind = Kind::listed;
  std::vector<std::string> values;  ///< if the kind is `listed`, the texts that stand after KEY=
  /// For the kinds `whole` and `real`: the ends of the range, low < high.
  double low = 0, high = 0;
  std::string unit;    ///< the unit that follows each number
  bool bytes = false;  ///< whether a real number must be written as whole bytes

  /// Returns the number of values of this key, which is infinity for real numbers.
  double count() const;
  /// Returns whether positions in the range are logarithmic. They are if the range spans a factor of ten or more.
  bool by_logarithm() const { return low > 0 && high >= 10 * low; }
  /// Returns the number at a position in the range. Position 0 is `low`, and position 1 is `high`. The result is a
  /// whole number, or a real number with seven significant digits.
  double number_at(double share) const;
  /// Returns the text that stands after KEY= for a number.
  std::string text_of(double number) const;
  std::string text_at(double share) const { return text_of(number_at(share)); }
  /// Returns the position of a number in the range, from 0 to 1.
  double share_of(double number) const;
};

/// Parses the range KEY=lo..hi. If one of its ends has a unit or a fraction, the range has real numbers. Any other
/// range has whole numbers. Parses KEY=a,b,c as a list of values. KEY=lo..hi:n and KEY=lo..hi*f are lists of values
/// too, as in a sweep. Throws UsageError.
SearchKey parse_search_key(const std::string& word);

}  // namespace sluice
