#include "study/sweep/axis.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "base/error.hpp"
#include "base/number_in.hpp"
#include "base/quantity.hpp"
#include "base/suggest.hpp"

namespace sluice {

namespace {

constexpr std::size_t most_points = 1'000'000;

[[noreturn]] void refuse(const std::string& word, const std::string& why) {
  throw UsageError(
      "'" + word + "': " + why +
      "; expected KEY=a,b,c or KEY=lo..hi:n (n values) or KEY=lo..hi*f (each is f times "
      "the value before), as in workload.batch=1..32*2");
}

/// Splits the text at commas that are outside of brackets, braces and quotes.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0)
      quote = c == quote ? '\0' : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == '[' || c == '{')
      ++depth;
    else if (c == ']' || c == '}')
      --depth;
    if (c == ',' && depth == 0 && quote == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// One end of a range: its number and its unit.
struct RangeEnd {
  double number = 0;
  std::string unit;
  bool whole = false;  ///< whether the number is written without a fraction or an exponent
};
std::optional<RangeEnd> range_end(std::string_view text) {
  RangeEnd end;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), end.number);
  if (error != std::errc() || !std::isfinite(end.number)) return std::nullopt;
  const std::string_view digits(text.data(), static_cast<std::size_t>(stop - text.data()));
  end.whole = digits.find_first_of(".eE") == std::string_view::npos;
  end.unit = text.substr(digits.size());
  return end;
}

/// A range "lo..hi", which may end with ':' or '*' and a further number. `count` is the text of this number.
struct Range {
  RangeEnd low, high;
  char by = 0;  ///< ':', '*' or 0 for neither
  std::string count;
};
std::optional<Range> range_of(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return std::nullopt;
  std::string high = text.substr(dots + 2);
  Range range;
  if (const std::size_t by = high.find_first_of(":*"); by != std::string::npos) {
    range.by = high[by];
    range.count = high.substr(by + 1);
    high.resize(by);
  }
  const std::optional<RangeEnd> low_end = range_end(text.substr(0, dots)),
                                high_end = range_end(high);
  if (!low_end || !high_end) return std::nullopt;
  range.low = *low_end;
  range.high = *high_end;
  return range;
}

std::vector<double> evenly(const std::string& word, const Range& range) {
  const auto count = number_in<std::int64_t>(range.count);
  if (!count || *count < 2 || *count > static_cast<std::int64_t>(most_points))
    refuse(word, "'" + range.count +
                     "' is not a number of values; expected a whole number from 2 to a million");
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < *count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(*count - 1);
    numbers.push_back(i + 1 == *count
                          ? range.high.number
                          : range.low.number + share * (range.high.number - range.low.number));
  }
  return numbers;
}

std::vector<double> by_factor(const std::string& word, const Range& range) {
  const auto factor = number_in<double>(range.count);
  if (!factor || !(*factor > 1) || !std::isfinite(*factor))
    refuse(word, "'" + range.count + "' is not a factor greater than 1");
  if (!(range.low.number > 0)) refuse(word, "a range with a factor must begin above 0");
  std::vector<double> numbers;
  constexpr double rounding = 1e-12;
  for (double at = range.low.number; at <= range.high.number * (1 + rounding); at *= *factor) {
    if (numbers.size() == most_points) refuse(word, "this range has more than a million values");
    numbers.push_back(at);
  }
  return numbers;
}

std::vector<double> one_by_one(const std::string& word, const Range& range) {
  if (!range.low.whole || !range.high.whole)
    refuse(word, "a range without ':n' or '*f' needs whole numbers at both ends");
  if (range.high.number - range.low.number >= static_cast<double>(most_points))
    refuse(word, "this range has more than a million values");
  std::vector<double> numbers;
  for (double at = range.low.number; at <= range.high.number; ++at) numbers.push_back(at);
  return numbers;
}

/// Returns the unit of the range. Both ends must have the same unit, or one of them has no unit.
std::string unit_of(const std::string& word, const Range& range) {
  const std::string& low = range.low.unit;
  const std::string& high = range.high.unit;
  if (!low.empty() && !high.empty() && low != high)
    refuse(word, "the ends have the units '" + low + "' and '" + high + "'; use one unit for both");
  if (range.high.number < range.low.number) refuse(word, "the range ends before it begins");
  return low.empty() ? high : low;
}

/// Returns true if the text, such as "1.5GB", is an amount of memory that is a whole number of bytes.
bool is_whole(const std::string& text) {
  try {
    parse_bytes(text);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

std::vector<std::string> values_of(const std::string& word, const Range& range) {
  const std::string unit = unit_of(word, range);
  const std::vector<double> numbers = range.by == ':'   ? evenly(word, range)
                                      : range.by == '*' ? by_factor(word, range)
                                                        : one_by_one(word, range);
  std::vector<std::string> values;
  const bool bytes = is_unit_of_bytes(unit), whole = range.low.whole && range.high.whole;
  for (const double number : numbers) {
    std::string text = number_text(number, whole) + unit;
    values.push_back(bytes && !is_whole(text) ? whole_bytes(number, unit) : std::move(text));
  }
  return values;
}

void require_unique(const std::vector<Axis>& axes) {
  std::set<std::string> keys;
  for (const Axis& axis : axes)
    if (!keys.insert(axis.key).second)
      throw UsageError("the key '" + axis.key + "' is given twice; write its values as one list");
}

}  // namespace

std::string number_text(double number, bool whole) {
  constexpr double exactly_whole = 0x1p53;
  const bool digits = whole && number == std::round(number) && std::abs(number) <= exactly_whole;
  return digits ? std::to_string(static_cast<std::int64_t>(number)) : exact(number);
}

bool is_unit_of_bytes(const std::string& unit) {
  const std::vector<std::string> units = units_of(Dimension::bytes);
  return std::find(units.begin(), units.end(), unit) != units.end();
}

std::string whole_bytes(double number, const std::string& unit) {
  const double one = parse_quantity("1" + unit, Dimension::bytes);
  return exact(std::round(number * one)) + "B";
}

std::optional<PlainRange> plain_range(const std::string& word, const std::string& values) {
  const std::optional<Range> range = range_of(values);
  if (!range || range->by != 0) return std::nullopt;
  return PlainRange{range->low.number, range->high.number, unit_of(word, *range),
                    range->low.whole && range->high.whole};
}

Axis parse_axis(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) refuse(word, "this is not KEY=VALUES");
  Axis axis{word.substr(0, equals), {}};
  const std::string text = word.substr(equals + 1);
  for (const std::string& part : split(text)) {
    const std::optional<Range> range = range_of(part);
    if (!range) {
      axis.values.push_back(part);
      continue;
    }
    for (std::string& value : values_of(word, *range)) axis.values.push_back(std::move(value));
  }
  if (axis.values.size() > 1)
    for (const std::string& value : axis.values)
      if (value.empty()) refuse(word, "a value between two commas is empty");
  return axis;
}

Points::Points(std::vector<Axis> axes, Over over) : axes_(std::move(axes)), over_(over), size_(1) {
  require_unique(axes_);
  strides_.assign(axes_.size(), 1);
  for (std::size_t a = axes_.size(); a-- > 0;) {
    const std::size_t count = axes_[a].values.size();
    if (over == Over::zip) {
      if (count != axes_.front().values.size())
        throw UsageError("with zip, all keys need equally many values, but '" + axes_.front().key +
                         "' has " + std::to_string(axes_.front().values.size()) + " and '" +
                         axes_[a].key + "' has " + std::to_string(count));
      size_ = count;
      continue;
    }
    strides_[a] = size_;
    if (count > most_points / std::max<std::size_t>(size_, 1))
      throw UsageError(
          "these keys give more than a million points; leave out values, or combine the axes with zip");
    size_ *= count;
  }
}

Points::Points(std::vector<std::string> keys, const std::vector<std::vector<std::string>>& rows)
    : over_(Over::zip), size_(rows.size()) {
  for (std::size_t k = 0; k < keys.size(); ++k) {
    axes_.push_back({std::move(keys[k]), {}});
    for (const std::vector<std::string>& row : rows) {
      if (row.size() != keys.size())
        throw UsageError("a point has " + std::to_string(row.size()) + " values for " +
                         std::to_string(keys.size()) + " keys");
      axes_.back().values.push_back(row[k]);
    }
  }
  require_unique(axes_);
}

std::size_t Points::place(std::size_t point, std::size_t axis) const {
  if (over_ == Over::zip) return point;
  return point / strides_[axis] % axes_[axis].values.size();
}

std::vector<std::string> Points::overrides(std::size_t point) const {
  std::vector<std::string> all;
  for (std::size_t a = 0; a < axes_.size(); ++a)
    all.push_back(axes_[a].key + "=" + value(point, a));
  return all;
}

std::string Points::text(std::size_t point) const {
  return join(overrides(point));
}

}  // namespace sluice
