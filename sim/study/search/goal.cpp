#include "study/search/goal.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "metrics/metric.hpp"

namespace sluice {

namespace {

Dimension dimension_of(const std::string& unit) {
  static const std::vector<std::pair<std::string, Dimension>> known = {
      {"s", Dimension::seconds}, {"byte", Dimension::bytes}, {"FLOP", Dimension::flop},
      {"J", Dimension::joules},  {"W", Dimension::watts},    {"byte/s", Dimension::bytes_per_s}};
  for (const auto& [name, dimension] : known)
    if (name == unit) return dimension;
  return Dimension::none;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

bool take_ending(std::string& text, const std::string& ending) {
  const bool there = !ending.empty() && text.ends_with(ending);
  if (there) text.resize(text.size() - ending.size());
  return there;
}

/// Parses a text such as 16GB, 5ms, 0.5J/sample or 200 samples/s. If the unit of `number` is a quotient such as
/// J/sample, the text may leave out the unit.
double quantity_of(std::string text, const SearchNumber& number) {
  const std::string& unit = number.unit;
  std::string name = number.text;
  Dimension dimension = dimension_of(unit);
  if (dimension == Dimension::none && unit != "1") {
    name += "' in '" + unit;
    const std::size_t per = std::min(unit.find('/'), unit.size());
    const std::string what = unit.substr(0, per), per_one = unit.substr(per);
    if (what == "sample")
      take_ending(text, what + per_one) || take_ending(text, "samples" + per_one);
    else if (take_ending(text, per_one))
      dimension = dimension_of(what);
  }
  return parse_quantity(trimmed(text), dimension, name);
}

SearchNumber metric_number(const std::string& text, const std::vector<std::string>& others) {
  const std::size_t end = text.find_first_of(".[");
  const std::string name = text.substr(0, end);
  const Metric* metric = metric_catalog().find_or_null(name);
  if (!metric) {
    std::vector<std::string> known = metric_catalog().names();
    known.insert(known.end(), others.begin(), others.end());
    throw UsageError("'" + text + "' is not a metric" + did_you_mean(text, known) +
                     "; see 'sluice list metrics'");
  }
  if (metric->unit.empty())
    throw UsageError("'" + text + "' is a word and not a number; see 'sluice list metrics'");
  std::string key;
  if (end != std::string::npos) {
    key = text.substr(end + 1);
    if (text[end] == '[' && !key.empty() && key.back() == ']') key.pop_back();
    if (key.empty())
      throw UsageError("'" + text + "' has nothing after '" + name +
                       "'; expected METRIC or METRIC.NAME, as in peak_bytes.gpu");
  }
  return {text, key.empty() ? name : name + "[" + key + "]", metric->unit};
}

}  // namespace

SearchNumber parse_search_number(const std::string& text, const std::vector<SearchKey>& keys) {
  std::vector<std::string> ranges;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const bool listed = keys[k].kind == SearchKey::Kind::listed;
    if (keys[k].key == text && listed)
      throw UsageError("'" + text +
                       "' has listed values, and a list cannot be minimised; give the key a range, as in " +
                       text + "=1..64");
    if (keys[k].key == text)
      return {text, text, keys[k].bytes ? "byte" : keys[k].unit, static_cast<int>(k)};
    if (!listed) ranges.push_back(keys[k].key);
  }
  return metric_number(trimmed(text), ranges);
}

double SearchLimit::broken_by(double found) const {
  if (holds(found)) return 0;
  const double least = 1e-300;
  return std::abs(found - limit) / std::max(std::abs(limit), least);
}

SearchLimit parse_search_limit(const std::string& text) {
  const std::size_t at = text.find_first_of("<>");
  if (at == std::string::npos || at + 1 >= text.size() || text[at + 1] != '=')
    throw UsageError("'" + text +
                     "' is not a limit; expected METRIC<=QUANTITY or METRIC>=QUANTITY in quotes, "
                     "as in 'peak_bytes.gpu<=16GB'");
  SearchLimit limit{.text = text, .number = parse_search_number(trimmed(text.substr(0, at)), {})};
  limit.at_most = text[at] == '<';
  try {
    limit.limit = quantity_of(trimmed(text.substr(at + 2)), limit.number);
  } catch (const InputError& error) {
    throw UsageError("'" + text + "': " + error.what());
  }
  return limit;
}

}  // namespace sluice
