#include "study/search/key.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "base/error.hpp"
#include "base/quantity.hpp"

namespace sluice {

namespace {

/// Rounds to seven significant digits. They are enough for any figure of hardware, and few enough to read.
double rounded(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", number);
  return std::strtod(text, nullptr);
}

}  // namespace

double SearchKey::count() const {
  if (kind == Kind::listed) return static_cast<double>(values.size());
  return kind == Kind::whole ? high - low + 1 : std::numeric_limits<double>::infinity();
}

double SearchKey::number_at(double share) const {
  share = std::clamp(share, 0.0, 1.0);
  if (share == 0) return low;
  if (share == 1) return high;
  const double number =
      by_logarithm() ? low * std::pow(high / low, share) : low + share * (high - low);
  return std::clamp(kind == Kind::whole ? std::round(number) : rounded(number), low, high);
}

double SearchKey::share_of(double number) const {
  return by_logarithm() ? std::log(number / low) / std::log(high / low)
                        : (number - low) / (high - low);
}

std::string SearchKey::text_of(double number) const {
  return bytes ? whole_bytes(number, unit) : number_text(number, kind == Kind::whole) + unit;
}

SearchKey parse_search_key(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals != std::string::npos && equals > 0) {
    const std::string values = word.substr(equals + 1);
    if (const std::optional<PlainRange> range = plain_range(word, values)) {
      SearchKey key{.key = word.substr(0, equals),
                    .low = range->low,
                    .high = range->high,
                    .unit = range->unit};
      const bool whole = range->whole && range->unit.empty();
      key.kind = whole ? SearchKey::Kind::whole : SearchKey::Kind::real;
      key.bytes = !whole && is_unit_of_bytes(range->unit);
      if (key.low == key.high)  // The range has a single value, so the key has a list of one value.
        return {.key = key.key, .values = {key.text_of(key.low)}};
      return key;
    }
  }
  Axis axis = parse_axis(word);
  return {.key = std::move(axis.key), .values = std::move(axis.values)};
}

}  // namespace sluice
