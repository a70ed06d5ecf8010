#include "command/search/report.hpp"

#include <cmath>
#include <optional>

#include "base/figures.hpp"
#include "base/suggest.hpp"
#include "command/page.hpp"
#include "command/sweep/report.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "document/object.hpp"

namespace sluice {

namespace {

/// Returns text such as "workload.batch=45 workload.dtype=float16".
std::string changes_text(const SearchReport& report, std::size_t place) {
  return printable(join(report.result.points.overrides(place), " "));
}

std::string number_text(const SearchReport& report, const SearchNumber& number, std::size_t place) {
  if (number.is_key())
    return printable(report.result.points.value(place, static_cast<std::size_t>(number.key)));
  return figure(number_of(number, report.result, place), number.unit);
}

std::string goal_text(const SearchGoal& goal) {
  return std::string(goal.maximise ? "the largest " : "the least ") + printable(goal.number.text);
}

std::string title(const SearchReport& report) {
  std::vector<std::string> keys;
  for (const SearchKey& key : report.request.keys) keys.push_back(key.key);
  return bold(printable(report.scenario) + ": " + goal_text(report.request.goal) + " over " +
              printable(join(keys))) +
         "\n";
}

/// Returns text such as "peak_bytes.gpu<=16GB: 15.2 GB, 5 % below it".
std::string distance_text(const SearchReport& report, const SearchLimit& limit, std::size_t place) {
  const double found = number_of(limit.number, report.result, place);
  const double apart = std::abs(found - limit.limit) / std::abs(limit.limit);
  std::string text = printable(limit.text) + ": " + figure(found, limit.number.unit) + ", ";
  if (found == limit.limit) return text + "on the limit";
  if (std::isfinite(apart)) text += percent(apart) + " ";
  return text + (found < limit.limit ? "below it" : "above it");
}

void add_limits(LabelledRows& rows, const SearchReport& report, std::size_t place) {
  for (const SearchLimit& limit : report.request.limits)
    rows.emplace_back(&limit == &report.request.limits.front() ? "limit" : "",
                      distance_text(report, limit, place));
}

/// A point is one combination of values that the search has tried. Of the points that break limits, returns the point
/// that is closest to keeping its limits.
std::optional<std::size_t> nearest_to_limits(const SearchResult& result) {
  std::optional<std::size_t> nearest;
  for (std::size_t i = 0; i < result.merits.size(); ++i)
    if (result.merits[i].status == Merit::LimitStatus::breaks &&
        (!nearest || result.merits[i] < result.merits[*nearest]))
      nearest = i;
  return nearest;
}

void add_found(LabelledRows& rows, const SearchReport& report) {
  const SearchResult& result = report.result;
  const SearchNumber& number = report.request.goal.number;
  if (!result.best) {
    rows.emplace_back("best", "there is none: no point keeps all limits");
    if (const auto nearest = nearest_to_limits(result)) {
      rows.emplace_back("nearest", changes_text(report, *nearest) + ", with " + number.text + " " +
                                       number_text(report, number, *nearest));
      add_limits(rows, report, *nearest);
    }
    return;
  }
  rows.emplace_back("best", number_text(report, number, *result.best) + " (" +
                                printable(number.text) + ") at " +
                                changes_text(report, *result.best));
  if (result.as_good > 0)
    rows.emplace_back("", plural(result.as_good, "other point") +
                              (result.as_good == 1 ? " has" : " have") +
                              " the same number as this point, which was found first");
  add_limits(rows, report, *result.best);
  if (!result.beyond) return;
  rows.emplace_back("beyond", number_text(report, number, *result.beyond) + " at " +
                                  changes_text(report, *result.beyond) + ", where");
  for (const SearchLimit& limit : report.request.limits)
    if (!limit.holds(number_of(limit.number, result, *result.beyond)))
      rows.emplace_back("", distance_text(report, limit, *result.beyond));
}

/// Adds a line about points that ran, but lack the requested number. For example, the number may be the peak of a
/// memory that the point's platform does not have.
void add_without_numbers(LabelledRows& rows, const SearchReport& report) {
  std::size_t count = 0, first = 0;
  const SearchResult& result = report.result;
  for (std::size_t i = result.merits.size(); i-- > 0;) {
    if (result.merits[i].status != Merit::LimitStatus::refused ||
        result.sweep.outcomes[i].status != PointResult::Status::complete)
      continue;
    ++count;
    first = i;
  }
  if (count == 0) return;
  std::vector<std::string> names;
  if (!report.request.goal.number.is_key()) names.push_back(report.request.goal.number.text);
  for (const SearchLimit& limit : report.request.limits) names.push_back(limit.number.text);
  rows.emplace_back("left out", plural(count, "point") + " without " +
                                    printable(join(names, " or ")) + ", the first at " +
                                    changes_text(report, first));
}

/// Returns a text that says whether another point may be better than the best point that was found.
std::string sureness(const SearchReport& report) {
  if (report.result.exhaustive)
    return "all combinations were run: no point is better than the best point";
  if (report.result.all_asked) {
    const std::size_t failed = report.result.sweep.count(PointResult::Status::failed);
    return "all combinations but the " + (failed == 1 ? "one" : std::to_string(failed)) +
           " that failed were run: none of them is better than the best point";
  }
  std::string text =
      "searched, without a proof: there may be a better point between the points that were run";
  if (report.result.used_up)
    text += ". The search used up its points (--points " +
            std::to_string(report.request.most_points) +
            "). A search with more points may find a better one";
  return text;
}

std::string asked_text(const SearchReport& report) {
  const SweepResult& sweep = report.result.sweep;
  std::string text = plural(sweep.outcomes.size(), "point");
  if (sweep.from_store > 0)
    text += ", " + plural(sweep.from_store, "point") + " of them taken from the store";
  if (sweep.verified > 0) text += "; SimGrid repeated the best point and gave an equal result";
  return text;
}

std::string search_text(const SearchReport& report) {
  LabelledRows rows;
  add_found(rows, report);
  add_refusals(rows, {report.scenario, report.result.points, report.result.sweep, {}});
  add_without_numbers(rows, report);
  rows.emplace_back("asked", asked_text(report));
  rows.emplace_back("sure", sureness(report));
  return title(report) + "\n" + rows_text(rows, {.page = page_width()});
}

Value changes_value(const SearchReport& report, std::size_t place) {
  Value changes = Value::make_map();
  const Points& points = report.result.points;
  for (std::size_t a = 0; a < points.axes().size(); ++a)
    changes.set(points.axes()[a].key, json_text(points.value(place, a)));
  return changes;
}

Value point_value(const SearchReport& report, const std::optional<std::size_t>& place) {
  if (!place) return Value::make_null();
  Value limits = list_of(report.request.limits, [&](const SearchLimit& limit) {
    return object({{"limit", limit.text},
                   {"number", json_number(number_of(limit.number, report.result, *place))},
                   {"at", json_number(limit.limit)}});
  });
  return object(
      {{"place", *place},
       {"changes", changes_value(report, *place)},
       {"number", json_number(number_of(report.request.goal.number, report.result, *place))},
       {"limits", std::move(limits)}});
}

Value head(const SearchReport& report) {
  const SearchGoal& goal = report.request.goal;
  return object({{"format", "sluice-search/1"},
                 {"scenario", json_text(report.scenario)},
                 {"goal", object({{goal.maximise ? "maximise" : "minimise", goal.number.text},
                                  {"unit", goal.number.unit}})},
                 {"found", point_value(report, report.result.best)},
                 {"beyond", point_value(report, report.result.beyond)},
                 {"as_good", report.result.as_good},
                 {"exhaustive", report.result.exhaustive},
                 {"used_up", report.result.used_up}});
}

}  // namespace

void print_search(const SearchReport& report, bool csv, bool json) {
  const SweepReport points{report.scenario, report.result.points, report.result.sweep, {}};
  if (csv)
    print_sweep_csv(points);
  else if (json)
    print_points_json(points, head(report));
  else
    print(search_text(report));
}

}  // namespace sluice
