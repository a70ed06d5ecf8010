#include "study/cover/cover.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "cost/measured/table.hpp"
#include "profile/columns.hpp"
#include "profile/match.hpp"

namespace sluice {
namespace {

/// If no device is named, unmeasured operators are ranked by their bytes or by their FLOP, whichever counts more. One
/// byte counts as much as this number of FLOP.
constexpr double usual_balance = 10;

Pass pass_named(const std::string& pass) {
  return pass == "backward" ? Pass::backward : Pass::forward;
}

DType element_of(const CoverRequest& request) {
  return request.dtype.empty() ? DType::float32 : dtype_of(request.dtype);
}

/// Returns the weight of an operator: the number by which unmeasured operators are ranked.
double weight_of(const Work& work, const CoverRequest& request) {
  if (request.device) return ideal_seconds(work, *request.device, element_of(request));
  return std::max(work.flop / usual_balance, work.bytes);
}

/// An operator, and how often it occurs in the model.
struct CountedOperator {
  ProfileRow row;
  std::int64_t occurrences = 0;
  double weight = 0;  ///< weight_of() one occurrence
  const ProfileIndex::ByBatch* measured = nullptr;
  const Layer* layer = nullptr;
};

std::vector<CountedOperator> operators_of(const Model& model, const ProfileIndex& index,
                                          const CoverRequest& request) {
  std::vector<CountedOperator> all;
  std::map<std::string, std::size_t> known;
  for (const std::string& pass : request.passes)
    for (const Layer& layer : model.layers) {
      if (layer.config.empty() || !does_work(layer, pass_named(pass))) continue;
      ProfileRow row = row_for(layer, request.samples, request.dtype, pass);
      const auto [found, fresh] = known.emplace(key_of(row), all.size());
      if (fresh) {
        const Work work =
            work_of(model, layer, pass_named(pass), request.samples, element_of(request));
        all.push_back({std::move(row), 0, weight_of(work, request),
                       &index.of(layer, request.dtype, pass), &layer});
      }
      ++all[found->second].occurrences;
    }
  return all;
}

std::string for_samples(std::int64_t batch) {
  return "for " + std::to_string(batch) + (batch == 1 ? " sample" : " samples");
}

/// Parameter `one` is an operator that was not measured for the requested batch and dtype. If the profile has it for
/// another batch or dtype, returns a text that names this batch or dtype. Otherwise, returns "".
std::string elsewhere_of(const CountedOperator& one, const ProfileIndex& index,
                         const CoverRequest& request) {
  if (!one.measured->empty()) return for_samples(one.measured->begin()->first);
  for (const std::string& dtype : dtype_names())
    if (dtype != request.dtype && !index.of(*one.layer, dtype, one.row.pass).empty())
      return "in " + dtype;
  return "";
}

/// Returns true if the row has the requested element type. A row or a request without an element type fits every
/// element type.
bool is_of_dtype(const ProfileRow& row, const CoverRequest& request) {
  return row.dtype.empty() || request.dtype.empty() || row.dtype == request.dtype;
}

/// Sets the seconds and joules of the whole model. They are the sums over the requested passes, from the profile's rows
/// for the whole model. If such a row is missing for a pass, the values stay unknown. If the request gives a value, it
/// replaces the sum.
void add_whole(Cover& cover, const Profile& profile, const CoverRequest& request,
               const std::string& model) {
  double seconds = 0, joules = 0;
  std::size_t timed = 0, metered = 0;
  bool several = false;
  for (const std::string& pass : request.passes) {
    std::size_t of_pass = 0;
    for (const ProfileRow& row : profile.rows) {
      if (row.level != Level::whole || row.pass != pass || !row.time() ||
          (!model.empty() && !row.model.empty() && row.model != model) ||
          (row.batch && *row.batch != request.samples) || !is_of_dtype(row, request))
        continue;
      seconds += *row.time();
      ++of_pass;
      if (row.energy()) joules += *row.energy(), ++metered;
    }
    timed += of_pass;
    several = several || of_pass > 1;
  }
  if (several)
    throw InputError(
        "'" + profile.path +
        "' has several rows of the whole model for one pass and this batch: choose one row with --where "
        "cache=hot, or give the seconds with --whole");
  if (timed == request.passes.size()) cover.whole_s = seconds;
  if (metered == request.passes.size()) cover.whole_j = joules;
  if (request.whole_s) cover.whole_s = request.whole_s;
  if (request.whole_j) cover.whole_j = request.whole_j;
}

void attribute(Cover& cover, const ProfileRow& row, std::int64_t occurrences) {
  ++cover.measured;
  cover.attributed_s += static_cast<double>(occurrences) * *row.time();
  if (!row.energy()) return;
  ++cover.with_energy;
  cover.attributed_j += static_cast<double>(occurrences) * *row.energy();
}

/// Ranks the unmeasured operators by the numbers of weight_of(), and counts how many of them must be measured to reach
/// `target`. The sum of the measured seconds, divided by the sum of the weight_of() of the measured operators, is
/// `factor`. If no operator was measured, `factor` is 0.
void rank_missing(Cover& cover, double factor, double target) {
  std::stable_sort(
      cover.missing.begin(), cover.missing.end(),
      [](const UnmeasuredOperator& a, const UnmeasuredOperator& b) { return a.weight > b.weight; });
  for (UnmeasuredOperator& one : cover.missing) one.expected_s = factor * one.weight;
  if (!cover.whole_s) return;
  double sum = cover.attributed_s;
  for (std::size_t m = 0; m <= cover.missing.size(); ++m) {
    if (sum >= target * *cover.whole_s) {
      cover.needed = m;
      return;
    }
    if (m < cover.missing.size()) sum += cover.missing[m].expected_s;
  }
}

std::optional<double> share(double part, const std::optional<double>& whole) {
  if (!whole || !(*whole > 0)) return std::nullopt;
  return part / *whole;
}

}  // namespace

std::optional<double> Cover::share_s() const {
  return share(attributed_s, whole_s);
}

std::optional<double> Cover::share_j() const {
  return with_energy == 0 ? std::nullopt : share(attributed_j, whole_j);
}

Cover cover_of(const Model& model, const Profile& profile, const CoverRequest& request) {
  const ProfileIndex index(profile);
  Cover cover;
  double weight = 0;  // the sum of the weight_of() of the measured operators
  for (const CountedOperator& one : operators_of(model, index, request)) {
    ++cover.operators;
    const double all = static_cast<double>(one.occurrences) * one.weight;
    const auto found = one.measured->find(request.samples);
    if (found == one.measured->end()) {
      cover.missing.push_back({words_of(one.row), one.occurrences, all});
      if (const std::string where = elsewhere_of(one, index, request); !where.empty())
        ++cover.elsewhere[where];
      continue;
    }
    attribute(cover, only_row(found->second), one.occurrences);
    weight += all;
  }
  add_whole(cover, profile, request, model.name);
  rank_missing(cover, weight > 0 ? cover.attributed_s / weight : 0, request.target);
  return cover;
}

namespace {

/// Returns the model, cache, device, method and dtype of a row as one text. Rows can be added up only if their texts
/// are equal.
std::string whole_of(const ProfileRow& row) {
  std::string key;
  for (const std::string* part : {&row.model, &row.cache, &row.device, &row.method, &row.dtype})
    key += *part + '\x1f';
  return key;
}

}  // namespace

Cover cover_of_rows(const Profile& profile, const CoverRequest& request) {
  Cover cover;
  double weight = 0;
  std::set<std::string> wholes;
  for (const ProfileRow& row : profile.rows) {
    if (row.level != Level::leaf || row.occurrences == 0 ||
        std::find(request.passes.begin(), request.passes.end(), row.pass) == request.passes.end())
      continue;
    if (row.batch && *row.batch != request.samples) {
      ++cover.elsewhere[for_samples(*row.batch)];
      continue;
    }
    if (!is_of_dtype(row, request)) {
      ++cover.elsewhere["in " + row.dtype];
      continue;
    }
    ++cover.operators;
    wholes.insert(whole_of(row));
    const double all =
        static_cast<double>(row.occurrences) *
        weight_of({.flop = row.flop.value_or(0), .bytes = row.bytes.value_or(0)}, request);
    if (row.time()) {
      attribute(cover, row, row.occurrences);
      weight += all;
    } else {
      cover.missing.push_back({words_of(row), row.occurrences, all});
    }
  }
  if (wholes.size() > 1)
    throw InputError("the rows of '" + profile.path +
                     "' are of several models, devices, caches, methods or element types and "
                     "cannot be added up; choose some of them, as with --where cache=hot");
  add_whole(cover, profile, request, "");
  rank_missing(cover, weight > 0 ? cover.attributed_s / weight : 0, request.target);
  return cover;
}

}  // namespace sluice
