#include "study/search/search.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "study/search/region.hpp"
#include "study/search/trials.hpp"

namespace sluice {

namespace {

/// The least number of points that a search of a region (region.hpp) must have. It is a little larger than 8, the
/// number of corners of three ranges.
constexpr double least_for_a_region = 12;
/// If some keys have real numbers, each combination of values of the other keys needs a search for the real numbers. A
/// key with whole numbers joins these combinations only if each search still has at least `worth_a_search` points.
constexpr double worth_a_search = 40;

/// The varied keys, divided into two groups. Each combination of the values of the keys in `tried` is tried. For each
/// combination, the ranges of the keys in `searched` are searched.
struct KeySplit {
  std::vector<std::size_t> tried, searched;
  double combinations = 1;
};

/// Divides the varied keys into keys whose values are combined, and keys that are searched. Keys with lists are always
/// combined, and keys with real numbers are always searched. Keys with whole numbers are combined, keys with few values
/// first, as long as there are enough points for all combinations. But if any key is searched, each combination needs
/// enough points for a search. If there are too few points for this, some keys with whole numbers are searched instead
/// of combined: first those with many values.
KeySplit split_of(const SearchRequest& request) {
  KeySplit split;
  std::vector<std::size_t> whole;
  for (std::size_t k = 0; k < request.keys.size(); ++k) {
    const SearchKey& key = request.keys[k];
    if (key.kind == SearchKey::Kind::real) split.searched.push_back(k);
    if (key.kind == SearchKey::Kind::whole) whole.push_back(k);
    if (key.kind != SearchKey::Kind::listed) continue;
    split.tried.push_back(k);
    split.combinations *= key.count();
  }
  std::stable_sort(whole.begin(), whole.end(), [&](std::size_t a, std::size_t b) {
    return request.keys[a].count() < request.keys[b].count();
  });
  const double each = split.searched.empty() ? 1 : worth_a_search;
  const auto allowed = static_cast<double>(request.most_points);
  std::size_t few = 0;  // the number of keys with whole numbers that are combined
  for (const std::size_t k : whole) {
    const double combinations = split.combinations * request.keys[k].count();
    const bool fits = combinations * each <= allowed;
    if (!fits) break;  // The later keys have at least as many values: too many, too.
    split.combinations = combinations;
    ++few;
  }
  const bool all_tried = few == whole.size() && split.searched.empty();
  for (; !all_tried && few > 0 && split.combinations * least_for_a_region > allowed; --few)
    split.combinations /= request.keys[whole[few - 1]].count();
  for (std::size_t i = 0; i < whole.size(); ++i)
    (i < few ? split.tried : split.searched).push_back(whole[i]);
  std::sort(split.tried.begin(), split.tried.end());
  std::sort(split.searched.begin(), split.searched.end());
  return split;
}

void require_keys(const SearchRequest& request) {
  if (request.keys.empty())
    throw UsageError(
        "no key is varied; give KEY=lo..hi or KEY=a,b,c, as in "
        "platform.links.host.bandwidth=8GB/s..64GB/s");
  std::set<std::string> seen;
  for (const SearchKey& key : request.keys)
    if (!seen.insert(key.key).second)
      throw UsageError("the key '" + key.key + "' is varied twice; write its values as one list");
}

void require_points_enough(const SearchRequest& request, const KeySplit& split) {
  const double each = split.searched.empty() ? 1 : least_for_a_region;
  const double needed = split.combinations * each;
  if (needed <= static_cast<double>(request.most_points)) return;
  throw UsageError("the listed values have " + std::to_string(std::llround(split.combinations)) +
                   " combinations, which need " + std::to_string(std::llround(needed)) +
                   " points, but only " + std::to_string(request.most_points) +
                   " points are allowed; allow more (--points, points=) or list fewer values");
}

/// Returns all combinations of the values of the keys in `tried`. In each combination, the texts of the keys in
/// `searched` are empty.
std::vector<SearchRow> combinations_of(const SearchRequest& request, const KeySplit& split) {
  std::vector<SearchRow> rows = {SearchRow(request.keys.size())};
  for (const std::size_t k : split.tried) {
    const SearchKey& key = request.keys[k];
    std::vector<std::string> values = key.values;
    if (key.kind == SearchKey::Kind::whole)
      for (double number = key.low; number <= key.high; ++number)
        values.push_back(key.text_of(number));
    std::vector<SearchRow> longer;
    for (const SearchRow& row : rows)
      for (const std::string& value : values) {
        longer.push_back(row);
        longer.back()[k] = value;
      }
    rows = std::move(longer);
  }
  return rows;
}

}  // namespace

SearchResult run_search(const SearchRequest& request) {
  require_keys(request);
  const KeySplit split = split_of(request);
  require_points_enough(request, split);
  const std::vector<SearchRow> combinations = combinations_of(request, split);
  Trials trials(request);
  bool used_up = false;
  if (split.searched.empty()) {
    trials.ask_all(combinations);
  } else {
    for (std::size_t i = 0; i < combinations.size(); ++i) {
      const std::size_t share = (request.most_points - trials.size()) / (combinations.size() - i);
      Region region(request.keys, trials, combinations[i], split.searched);
      used_up = !region.search(share) || used_up;
    }
  }
  SearchResult result = trials.result();
  result.all_asked = split.searched.empty();
  result.exhaustive = result.all_asked && result.sweep.count(PointResult::Status::failed) == 0;
  result.used_up = used_up;
  return result;
}

}  // namespace sluice
