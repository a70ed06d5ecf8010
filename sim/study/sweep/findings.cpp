#include "study/sweep/findings.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "base/error.hpp"
#include "metrics/metric.hpp"

namespace sluice {

namespace {

/// A value of an axis as a number. `unit` is the text behind the number, such as "GB/s".
struct Quantity {
  double number = 0;
  std::string unit;
};
std::optional<Quantity> quantity_of(const std::string& text) {
  Quantity quantity;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, quantity.number);
  if (code != std::errc()) return std::nullopt;
  quantity.unit.assign(rest, end);
  return quantity;
}
bool is_number(const std::string& text) {
  return quantity_of(text).has_value();
}

/// Sorts points by their values on an axis, which are numbers. If the values have different units, the points keep
/// their order.
void sort_along(std::vector<std::size_t>& row, const Points& points, std::size_t axis) {
  const auto at = [&](std::size_t point) { return *quantity_of(points.value(point, axis)); };
  if (std::any_of(row.begin(), row.end(),
                  [&](std::size_t point) { return at(point).unit != at(row.front()).unit; }))
    return;
  std::stable_sort(row.begin(), row.end(),
                   [&](std::size_t a, std::size_t b) { return at(a).number < at(b).number; });
}

std::optional<std::size_t> longest_axis_of_numbers(const Points& points) {
  std::optional<std::size_t> longest;
  for (std::size_t a = 0; a < points.axes().size(); ++a) {
    const std::vector<std::string>& values = points.axes()[a].values;
    const bool numbers = std::all_of(values.begin(), values.end(), is_number);
    if (numbers && values.size() > 1 &&
        (!longest || values.size() > points.axes()[*longest].values.size()))
      longest = a;
  }
  return longest;
}

std::string without_numbers(const std::string& text) {
  std::string words;
  for (const char c : text)
    if (!std::isdigit(static_cast<unsigned char>(c)) && c != '.') words += c;
  return words;
}

}  // namespace

/// Two numbers count as equal if their relative difference is at most this. Numbers are sums, whose terms may have been
/// added in different orders.
constexpr double same_to = 1e-9;

std::string metric_of(const std::string& number) {
  return number.substr(0, number.find('['));
}

bool has_direction(const std::string& number) {
  return metric_catalog().find(metric_of(number)).better != Metric::Better::neither;
}

std::vector<std::string> numbers_of_metric(const SweepResult& result, const std::string& metric) {
  std::vector<std::string> found;
  // Most points share the same list of names. So a list is skipped if the point before has it, too.
  const NumberNames* last = nullptr;
  for (const PointResult& outcome : result.outcomes) {
    if (!outcome.names || outcome.names.get() == last) continue;
    last = outcome.names.get();
    for (const NumberName& name : *last)
      if (name.metric == metric &&
          std::find(found.begin(), found.end(), name.text()) == found.end())
        found.push_back(name.text());
  }
  return found.empty() ? std::vector{metric} : found;
}

std::optional<std::size_t> best_place(const SweepResult& result, const std::string& metric) {
  const Metric::Better better = metric_catalog().find(metric_of(metric)).better;
  if (better == Metric::Better::neither) return std::nullopt;
  const double sign = better == Metric::Better::lower ? 1 : -1;
  double least = std::numeric_limits<double>::infinity();
  for (const PointResult& outcome : result.outcomes)
    if (const double number = sign * outcome.number(metric); std::isfinite(number))
      least = std::min(least, number);
  if (!std::isfinite(least)) return std::nullopt;
  const double enough = least + same_to * std::abs(least);
  for (std::size_t i = 0; i < result.outcomes.size(); ++i)
    if (sign * result.outcomes[i].number(metric) <= enough) return i;
  return std::nullopt;
}

double exposed_share(const PointResult& outcome) {
  const double exposed = outcome.number("exposed_transfer_s");
  const double computed = outcome.number("compute_s");
  return exposed / (exposed + computed);
}

bool hides(const PointResult& outcome) {
  return exposed_share(outcome) <= hidden_share * (1 + same_to);
}

std::vector<HiddenFrom> crossings(const Points& points, const SweepResult& result) {
  const std::optional<std::size_t> along = longest_axis_of_numbers(points);
  if (!along || points.over() != Over::grid || result.points.size() != points.size()) return {};
  // Divides the points into rows. The points of a row have equal values on all axes except the axis
  // `along`.
  std::map<std::vector<std::size_t>, std::vector<std::size_t>> rows;
  for (std::size_t p = 0; p < points.size(); ++p) {
    std::vector<std::size_t> others;
    for (std::size_t a = 0; a < points.axes().size(); ++a)
      if (a != *along) others.push_back(points.place(p, a));
    rows[others].push_back(p);
  }
  std::vector<HiddenFrom> found;
  for (auto& [ignored, row] : rows) {
    std::erase_if(row, [&](std::size_t point) {
      return result.outcomes[point].status != PointResult::Status::complete;
    });
    if (row.empty()) continue;
    sort_along(row, points, *along);
    // The position in the row from which on all points hide their transfers.
    std::size_t from = row.size();
    while (from > 0 && hides(result.outcomes[row[from - 1]])) --from;
    HiddenFrom crossing{.everywhere = from == 0};
    for (std::size_t a = 0; a < points.axes().size(); ++a) {
      const std::string text = points.axes()[a].key + "=";
      if (a != *along && points.axes()[a].values.size() > 1)
        crossing.others.push_back(text + points.value(row[0], a));
      if (a == *along && from < row.size()) crossing.from = text + points.value(row[from], a);
    }
    found.push_back(std::move(crossing));
  }
  return found;
}

std::vector<Refusal> refusals(const SweepResult& result) {
  std::vector<Refusal> found;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < result.outcomes.size(); ++i) {
    const PointResult& outcome = result.outcomes[i];
    if (outcome.status == PointResult::Status::complete) continue;
    const auto [at, is_new] = known.try_emplace(
        std::string(name_of(outcome.status)) + without_numbers(outcome.reason), found.size());
    if (is_new) found.push_back({outcome.status, 0, i});
    ++found[at->second].count;
  }
  return found;
}

}  // namespace sluice
