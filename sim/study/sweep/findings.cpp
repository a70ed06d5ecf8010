#include "study/sweep/findings.hpp"

#include <cctype>
#include <charconv>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "metrics/metric.hpp"

namespace sluice {

namespace {

bool is_number(const std::string& text) {
  double number = 0;
  return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc();
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

std::optional<std::size_t> best_place(const SweepResult& result, const std::string& metric) {
  const Metric::Better better = metric_catalog().find(metric).better;
  if (better == Metric::Better::neither) return std::nullopt;
  std::optional<std::size_t> best;
  double best_number = 0;
  for (std::size_t i = 0; i < result.outcomes.size(); ++i) {
    const double number = result.outcomes[i].number(metric);
    if (!std::isfinite(number)) continue;
    if (best && !(better == Metric::Better::lower ? number < best_number : number > best_number))
      continue;
    best = i;
    best_number = number;
  }
  return best;
}

double exposed_share(const PointResult& outcome) {
  const double exposed = outcome.number("exposed_transfer_s");
  const double computed = outcome.number("compute_s");
  return exposed / (exposed + computed);
}

std::vector<HiddenFrom> crossings(const Points& points, const SweepResult& result) {
  const std::optional<std::size_t> along = longest_axis_of_numbers(points);
  if (!along || points.over() != Over::grid || result.points.size() != points.size()) return {};
  // The points of each combination of the other values, in the order of the axis.
  std::map<std::vector<std::size_t>, std::vector<std::size_t>> rows;
  for (std::size_t p = 0; p < points.size(); ++p) {
    std::vector<std::size_t> others;
    for (std::size_t a = 0; a < points.axes().size(); ++a)
      if (a != *along) others.push_back(points.place(p, a));
    rows[others].push_back(p);
  }
  std::vector<HiddenFrom> found;
  for (const auto& [ignored, row] : rows) {
    const auto has_numbers = [&](std::size_t point) {
      return result.outcomes[point].status == PointResult::Status::complete;
    };
    if (std::none_of(row.begin(), row.end(), has_numbers)) continue;
    std::size_t from = row.size();  // the first place from which on all are hidden
    while (from > 0 && exposed_share(result.outcomes[row[from - 1]]) <= hidden_share) --from;
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
