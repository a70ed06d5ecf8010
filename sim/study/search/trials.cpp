#include "study/search/trials.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <set>

#include "base/error.hpp"
#include "base/suggest.hpp"
#include "document/load.hpp"

namespace sluice {

namespace {

std::vector<std::string> names_of(const std::vector<SearchKey>& keys) {
  std::vector<std::string> names;
  for (const SearchKey& key : keys) names.push_back(key.key);
  return names;
}

/// A merit says how good a point is (search.hpp). This merit is for a point that ran, but lacks the number of the goal
/// or of a limit. Such a point is worse than every point that has these numbers.
constexpr Merit without_number = {Merit::LimitStatus::refused, std::numeric_limits<double>::max()};

double number_in(const SearchNumber& number, const std::string& value, const PointResult& outcome) {
  return number.is_key() ? std::strtod(value.c_str(), nullptr) : outcome.number(number.name);
}

/// Returns the missing bytes, divided by the available bytes. If the needed or the available bytes are not known,
/// returns 1.
double lack_of(const PointResult& outcome) {
  if (outcome.shortage.empty()) return 1;
  const Value shortage = parse_text(outcome.shortage, "shortage.json");
  const auto amount = [&](const char* key) {
    const Value* found = shortage.find(key);
    return found ? found->as_number() : 0.0;  // null becomes 0
  };
  const double needed = amount("needed_bytes"), there = amount("available_bytes");
  return there > 0 && needed > there ? needed / there - 1 : 1;
}

}  // namespace

std::size_t Trials::ask(const SearchRow& row) {
  if (!knows(row)) ask_all({row});
  return places_.at(row);
}

void Trials::ask_all(const std::vector<SearchRow>& rows) {
  std::vector<SearchRow> unknown;
  std::set<SearchRow> seen;
  for (const SearchRow& row : rows)
    if (!knows(row) && seen.insert(row).second) unknown.push_back(row);
  if (unknown.empty()) return;
  SweepResult answers = sweep(unknown, /*verify=*/false);
  take(unknown, std::move(answers));
}

void Trials::take(const std::vector<SearchRow>& rows, SweepResult answers) {
  from_store_ += answers.from_store;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    merits_.push_back(merit_of(rows[i], answers.outcomes[i]));
    places_[rows[i]] = rows_.size();
    rows_.push_back(rows[i]);
    outcomes_.push_back(std::move(answers.outcomes[i]));
  }
}

SweepResult Trials::sweep(const std::vector<SearchRow>& rows, bool verify) const {
  const Points points(names_of(request_.keys), rows);
  SweepRequest request{.variants = request_.variants, .points = points};
  request.jobs = std::min(std::max<std::size_t>(request_.jobs, 1), rows.size());
  request.store = request_.store;
  request.retry_failed = request_.retry_failed && !verify;
  if (verify) {
    request.verify = 1;
    request.by_both_executors = request_.by_both_executors;
  } else if (request_.progress) {
    request.progress = [this](std::size_t done, std::size_t) {
      request_.progress(rows_.size() + done, request_.most_points);
    };
  }
  return run_sweep(request);
}

/// Throws UsageError if points ran, but none of them has the number. One point with the number is enough: for example,
/// the number may belong to a device that only one of several platforms has.
void Trials::require_number(const SearchNumber& number) const {
  if (number.is_key()) return;
  const std::string metric = number.name.substr(0, number.name.find('['));
  std::vector<std::string> there;
  bool some_ran = false;
  for (const PointResult& outcome : outcomes_) {
    if (outcome.status != PointResult::Status::complete) continue;
    some_ran = true;
    for (const NumberName& name : *outcome.names) {
      if (name.text() == number.name) return;
      if (name.metric != metric) continue;
      const std::string text = name.key.empty() ? metric : metric + "." + join(name.key, "/");
      if (std::find(there.begin(), there.end(), text) == there.end()) there.push_back(text);
    }
  }
  if (!some_ran) return;
  throw UsageError(
      "no point has the number '" + number.text + "'" + did_you_mean(number.text, there) +
      (there.empty() ? "; the metric is absent in all runs" : "; there are: " + join(there)));
}

Merit Trials::merit_of(const SearchRow& row, const PointResult& outcome) {
  if (outcome.status != PointResult::Status::complete)
    return {Merit::LimitStatus::refused, lack_of(outcome)};
  const SearchNumber& goal = request_.goal.number;
  const double found = number_in(
      goal, goal.is_key() ? row[static_cast<std::size_t>(goal.key)] : std::string(), outcome);
  if (std::isnan(found)) return without_number;
  double broken = 0;
  for (const SearchLimit& limit : request_.limits) {
    const double reached = outcome.number(limit.number.name);
    if (std::isnan(reached)) return without_number;
    broken += limit.broken_by(reached);
    if (!limit.holds(reached)) broken = std::max(broken, std::numeric_limits<double>::min());
  }
  if (broken > 0) return {Merit::LimitStatus::breaks, broken};
  return {Merit::LimitStatus::keeps, request_.goal.maximise ? -found : found};
}

void Trials::verify(SearchResult& result) const {
  PointResult& outcome = result.sweep.outcomes[*result.best];
  if (!request_.by_both_executors || outcome.verified) return;
  result.sweep.verified = sweep({rows_[*result.best]}, /*verify=*/true).verified;
  outcome.verified = true;
}

bool Trials::all_failed() const {
  return std::all_of(outcomes_.begin(), outcomes_.end(), [](const PointResult& outcome) {
    return outcome.status == PointResult::Status::failed;
  });
}

bool Trials::lacks_numbers(std::size_t place) const {
  return merits_[place].status == Merit::LimitStatus::refused &&
         outcomes_[place].status == PointResult::Status::complete;
}

SearchResult Trials::result() {
  require_number(request_.goal.number);
  for (const SearchLimit& limit : request_.limits) require_number(limit.number);
  SearchResult result{.points = Points(names_of(request_.keys), rows_), .merits = merits_};
  result.sweep.points.resize(rows_.size());
  std::iota(result.sweep.points.begin(), result.sweep.points.end(), 0);
  result.sweep.outcomes = std::move(outcomes_);
  result.sweep.from_store = from_store_;
  const auto best = std::min_element(merits_.begin(), merits_.end());
  if (best == merits_.end() || best->status != Merit::LimitStatus::keeps) return result;
  result.best = static_cast<std::size_t>(best - merits_.begin());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (i != *result.best && merits_[i] == *best) ++result.as_good;
    if (merits_[i].status != Merit::LimitStatus::breaks) continue;
    const double found = number_of(request_.goal.number, result, i);
    const double number = request_.goal.maximise ? -found : found;
    if (number < best->number && (!result.beyond || merits_[i] < merits_[*result.beyond]))
      result.beyond = i;
  }
  verify(result);
  return result;
}

double number_of(const SearchNumber& number, const SearchResult& result, std::size_t place) {
  const std::string& value =
      number.is_key() ? result.points.value(place, static_cast<std::size_t>(number.key)) : "";
  return number_in(number, value, result.sweep.outcomes[place]);
}

}  // namespace sluice
