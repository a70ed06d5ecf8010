// An axis is a key of the scenario, with the list of values that a sweep gives to this key.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

struct Axis {
  std::string key;  ///< with dots: "workload.batch"
  /// The values. Each value is a text as it stands after KEY= on the command line.
  std::vector<std::string> values;
};

/// Parses an axis. KEY=a,b,c gives the values a, b and c. A comma inside brackets, braces or quotes does not separate
/// values. KEY=lo..hi:n gives n values at equal distances, including both ends. KEY=lo..hi*f gives lo, lo x f, lo x f x
/// f, ... up to hi. KEY=lo..hi gives all whole numbers from lo to hi. The ends may have a unit: 16GB/s..64GB/s:4. If
/// only one end has a unit, the unit applies to both ends. If the values are amounts of memory, values between the ends
/// are rounded to whole bytes. Any other text behind KEY=, such as ../platforms/k40.yaml, is a single value. Throws
/// UsageError.
Axis parse_axis(const std::string& word);

/// A range "lo..hi" without ":n" and without "*f".
struct PlainRange {
  double low = 0, high = 0;  ///< low <= high
  std::string unit;          ///< unit of both ends; may be empty
  bool whole = false;        ///< whether both ends are written without a fraction or an exponent
};
/// Reads `values` as a range "lo..hi". If it is anything else, such as a list, returns nullopt. `word` is KEY=values,
/// for messages. Throws UsageError if the two ends have different units, or if the second end is below the first end.
std::optional<PlainRange> plain_range(const std::string& word, const std::string& values);

/// Returns a number of a range as text. `whole` is true if both ends of the range are whole numbers. In this case, a
/// whole number is written with all its digits: 10000000 instead of 1e+07.
std::string number_text(double number, bool whole);

bool is_unit_of_bytes(const std::string& unit);
/// Converts an amount of memory in the given unit to a text in whole bytes, such as "4121212121B".
std::string whole_bytes(double number, const std::string& unit);

/// The two ways to combine several axes.
enum class Over {
  grid,  ///< each value of an axis with each value of all other axes; the last axis varies fastest
  zip,   ///< the first values of all axes, then the second values of all axes, ...
};

/// For each axis, the index of a value in `Axis::values`.
using Place = std::vector<std::size_t>;

/// The points of a sweep. A point is named by its position, from 0 to size() - 1.
class Points {
 public:
  /// Combines the axes. Throws UsageError if a key is given twice, if axes of different lengths are combined with
  /// `zip`, or if there are more than a million points.
  Points(std::vector<Axis> axes, Over over);
  /// Takes points that the caller lists. Each element of `rows` is a point: it has one value for each of the keys.
  /// Throws UsageError.
  Points(std::vector<std::string> keys, const std::vector<std::vector<std::string>>& rows);

  std::size_t size() const { return size_; }
  const std::vector<Axis>& axes() const { return axes_; }
  Over over() const { return over_; }
  const std::string& value(std::size_t point, std::size_t axis) const {
    return axes_[axis].values[place(point, axis)];
  }
  std::size_t place(std::size_t point, std::size_t axis) const;
  /// Returns the changes of a point, as KEY=VALUE for each axis.
  std::vector<std::string> overrides(std::size_t point) const;
  /// Returns the changes of a point as one text: "workload.batch=4, platform.links.host.bandwidth=64GB/s"
  std::string text(std::size_t point) const;

 private:
  std::vector<Axis> axes_;
  Over over_ = Over::grid;
  std::vector<std::size_t> strides_;  ///< one stride per axis; only a grid uses the strides
  std::size_t size_ = 0;
};

}  // namespace sluice
