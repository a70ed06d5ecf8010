// What a search varies: a key of the scenario, and the values among which the best one is searched.
#pragma once

#include <string>
#include <vector>

#include "study/sweep/axis.hpp"

namespace sluice {

struct SearchKey {
  enum class Kind {
    listed,  ///< a few values without an order: each is combined with all values of the others
    whole,   ///< whole numbers from low to high
    real,    ///< any number from low to high
  };
  std::string key;  ///< with dots: "workload.batch"
  Kind kind = Kind::listed;
  std::vector<std::string> values;  ///< listed: the texts after KEY=
  double low = 0, high = 0;         ///< whole, real; low < high
  std::string unit;                 ///< follows each number
  bool bytes = false;               ///< a real number that must be written as whole bytes

  /// How many values it has; infinity for real numbers.
  double count() const;
  /// Real numbers in a range that spans a factor of ten or more are searched by their logarithm.
  bool by_logarithm() const { return low > 0 && high >= 10 * low; }
  /// The number at a share (0 to 1) of the range: a whole number, or one with seven significant
  /// digits.
  double number_at(double share) const;
  /// The text after KEY= for that number.
  std::string text_of(double number) const;
  std::string text_at(double share) const { return text_of(number_at(share)); }
  /// The share of the range at which a number is.
  double share_of(double number) const;
};

/// KEY=lo..hi     any number where an end has a unit or a fraction, otherwise whole numbers
/// KEY=a,b,c      these; KEY=lo..hi:n and KEY=lo..hi*f list values, too, as in a sweep
/// Throws UsageError.
SearchKey parse_search_key(const std::string& word);

}  // namespace sluice
