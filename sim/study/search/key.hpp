// A key of the scenario whose value a search varies. The values come from a range or from a list.
#pragma once

#include <string>
#include <vector>

#include "study/sweep/axis.hpp"

namespace sluice {

struct SearchKey {
  enum class Kind {
    /// The values come from a list, and their order does not matter. The search tries each of them.
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

  /// Returns the number of values of this key. For real numbers, this is infinity.
  double count() const;
  /// A position in the range is a number from 0 (`low`) to 1 (`high`). Returns true if positions are logarithmic: equal
  /// steps multiply the number by equal factors. This is so if `high` is at least ten times `low`.
  bool by_logarithm() const { return low > 0 && high >= 10 * low; }
  /// Returns the number at the position `share`. The result is a whole number, or a real number with seven significant
  /// digits, as the kind of the key says.
  double number_at(double share) const;
  /// Returns the number as the text that stands after KEY=, with its unit.
  std::string text_of(double number) const;
  std::string text_at(double share) const { return text_of(number_at(share)); }
  /// Returns the position of a number of the range.
  double share_of(double number) const;
};

/// Parses KEY=lo..hi as a range. If one of its ends has a unit or a fraction, the range has real numbers. Otherwise it
/// has whole numbers. Parses KEY=a,b,c as a list of values. KEY=lo..hi:n and KEY=lo..hi*f also become lists, with the
/// values that they have in a sweep. Throws UsageError.
SearchKey parse_search_key(const std::string& word);

}  // namespace sluice
