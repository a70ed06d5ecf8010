#include "study/search/region.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace sluice {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// A search of a region calls DIRECT, and then walks downhill with Subplex from some good points. In each key, the
/// first step of such a walk is this share of the key's range.
constexpr double first_step = 0.1;
/// A walk ends when its steps have become smaller than this share of the range.
constexpr double tolerance = 1e-6;
/// Any two starting points of walks differ by more than this share of the range in at least one key.
constexpr double apart = 0.15;
constexpr std::size_t most_starts = 3;
/// DIRECT may evaluate at most this number of points per dimension, because it only has to find where good points are.
/// The walks downhill may use all remaining points.
constexpr std::size_t worth_dividing_a_dimension = 40;
constexpr std::size_t most_dimensions_with_corners = 4;
/// The values of a point are rounded. Therefore many calls of the score ask for a point that is already known. To
/// evaluate n new points, a method of NLopt may call the score n x calls_for_each_point times.
constexpr std::size_t calls_for_each_point = 20;

/// Turns a merit into one number, which a walk downhill makes smaller. Points that keep the limits get smaller numbers
/// than points that break limits, and these get smaller numbers than refused points.
double downhill(const Merit& merit) {
  constexpr double cliff = 1e200;
  const double wrong = merit.number / (1 + merit.number);  // between 0 and 1
  switch (merit.status) {
    case Merit::LimitStatus::keeps:
      return merit.number;
    case Merit::LimitStatus::breaks:
      return cliff * (1 + (std::isfinite(wrong) ? wrong : 1));
    case Merit::LimitStatus::refused:
      return cliff * (3 + (std::isfinite(wrong) ? wrong : 1));
  }
  return infinity;
}

double distance(const CubePlace& a, const CubePlace& b) {
  double most = 0;
  for (std::size_t d = 0; d < a.size(); ++d) most = std::max(most, std::abs(a[d] - b[d]));
  return most;
}

}  // namespace

Region::Region(const std::vector<SearchKey>& keys, Trials& trials, SearchRow row,
               std::vector<std::size_t> searched)
    : keys_(keys), trials_(trials), row_(std::move(row)), searched_(std::move(searched)) {}

SearchRow Region::row_at(const CubePlace& at) const {
  SearchRow row = row_;
  for (std::size_t d = 0; d < searched_.size(); ++d) row[searched_[d]] = key(d).text_at(at[d]);
  return row;
}

CubePlace Region::place_of(const SearchRow& row) const {
  CubePlace at;
  for (std::size_t d = 0; d < searched_.size(); ++d) {
    const double number = std::strtod(row[searched_[d]].c_str(), nullptr);
    const double one = key(d).bytes ? std::strtod(key(d).text_of(1).c_str(), nullptr) : 1;
    at.push_back(std::clamp(key(d).share_of(number / one), 0.0, 1.0));
  }
  return at;
}

std::size_t Region::ask(const SearchRow& row) {
  const bool is_new = !trials_.knows(row);
  if (is_new && asked() >= most_points_) throw NoPointsLeft();
  const std::size_t place = trials_.ask(row);
  if (is_new) mine_.push_back(place);
  return place;
}

/// Evaluates the middle of the ranges, and also their corners, because the best point is often in a corner. All these
/// points are evaluated at the same time. If there are more than four ranges, only 16 of the corners are evaluated.
void Region::ask_corners() {
  const std::size_t dimensions = searched_.size();
  std::vector<SearchRow> rows;
  const std::size_t corners = std::size_t{1} << std::min(dimensions, most_dimensions_with_corners);
  for (std::size_t corner = 0; corner < corners; ++corner) {
    CubePlace at(dimensions);
    for (std::size_t d = 0; d < dimensions; ++d)
      at[d] = static_cast<double>(corner >> (d % most_dimensions_with_corners) & 1);
    rows.push_back(row_at(at));
  }
  rows.push_back(row_at(CubePlace(dimensions, 0.5)));
  rows.resize(std::min(rows.size(), most_points_));
  const std::size_t first = trials_.size();
  trials_.ask_all(rows);
  for (std::size_t place = first; place < trials_.size(); ++place) mine_.push_back(place);
}

void Region::divide(const Score& score, std::size_t most_points) {
  // NLopt must not be called with a limit of 0 calls: for NLopt, 0 means that there is no limit.
  if (most_points == 0) return;
  struct PointLimitReached {};
  const std::size_t until = std::min(asked() + most_points, most_points_);
  try {
    divide_cube(searched_.size(), calls_for_each_point * most_points, [&](const CubePlace& at) {
      if (asked() >= until && !trials_.knows(row_at(at))) throw PointLimitReached();
      return score(at);
    });
  } catch (const PointLimitReached&) {
  }
}

bool Region::has_one_that_keeps() const {
  return std::any_of(mine_.begin(), mine_.end(), [&](std::size_t place) {
    return trials_.merit(place).status == Merit::LimitStatus::keeps;
  });
}

bool Region::all_lack_numbers() const {
  return std::all_of(mine_.begin(), mine_.end(),
                     [&](std::size_t place) { return trials_.lacks_numbers(place); });
}

std::vector<std::size_t> Region::starts() const {
  std::vector<std::size_t> order = mine_;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return trials_.merit(a) < trials_.merit(b);
  });
  std::vector<std::size_t> chosen;
  for (const std::size_t place : order) {
    if (chosen.size() == most_starts) break;
    const CubePlace at = place_of(trials_.row(place));
    if (std::all_of(chosen.begin(), chosen.end(), [&](std::size_t other) {
          return distance(at, place_of(trials_.row(other))) > apart;
        }))
      chosen.push_back(place);
  }
  return chosen;
}

void Region::walk_from(std::size_t start) {
  walk_downhill(place_of(trials_.row(start)), first_step, tolerance,
                calls_for_each_point * most_points_,
                [&](const CubePlace& at) { return downhill(trials_.merit(ask(row_at(at)))); });
}

void Region::try_neighbours() {
  std::vector<std::size_t> whole;
  for (std::size_t d = 0; d < searched_.size(); ++d)
    if (key(d).kind == SearchKey::Kind::whole) whole.push_back(d);
  for (bool better = !whole.empty(); better;) {
    better = false;
    const std::size_t best = starts().front();
    for (const std::size_t d : whole)
      for (const double by : {-1.0, 1.0}) {
        SearchRow row = trials_.row(best);
        const double number = std::strtod(row[searched_[d]].c_str(), nullptr) + by;
        if (number < key(d).low || number > key(d).high) continue;
        row[searched_[d]] = key(d).text_of(number);
        better = trials_.merit(ask(row)) < trials_.merit(best) || better;
      }
  }
}

bool Region::search(std::size_t most_points) {
  before_ = trials_.size();
  most_points_ = most_points;
  try {
    ask_corners();
    // If all corners failed, or none has the numbers of the goal and of the limits, this region has no answer. The
    // reason is a varied key that is wrong, or a number that does not exist.
    if (trials_.all_failed() || all_lack_numbers()) return true;
    const std::size_t enough =
        std::min(most_points / 2, worth_dividing_a_dimension * searched_.size());
    divide(
        [&](const CubePlace& at) {
          const Merit merit = trials_.merit(ask(row_at(at)));
          return merit.status == Merit::LimitStatus::keeps ? merit.number : infinity;
        },
        enough - std::min(enough, asked()));
    // If no point has kept all limits so far, DIRECT runs again. In this second run, the score says by how much a point
    // breaks the limits. So DIRECT looks for points that keep them.
    if (!has_one_that_keeps())
      divide([&](const CubePlace& at) { return downhill(trials_.merit(ask(row_at(at)))) / 1e200; },
             enough / 2);
    for (const std::size_t start : starts()) walk_from(start);
    try_neighbours();
  } catch (const NoPointsLeft&) {
    return false;
  }
  return true;
}

}  // namespace sluice
