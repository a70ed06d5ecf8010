// One combination of the listed values, together with the ranges that are searched for this combination.
#pragma once

#include <cstddef>
#include <vector>

#include "study/search/optimiser.hpp"
#include "study/search/trials.hpp"

namespace sluice {

class Region {
 public:
  /// `row` has the values of the keys that are not searched. `searched` contains the indexes of the searched keys.
  Region(const std::vector<SearchKey>& keys, Trials& trials, SearchRow row,
         std::vector<std::size_t> searched);

  /// Evaluates at most `most_points` points. Returns true if the search ended after fewer points.
  bool search(std::size_t most_points);

 private:
  struct NoPointsLeft {};

  const SearchKey& key(std::size_t dimension) const { return keys_[searched_[dimension]]; }
  SearchRow row_at(const CubePlace& at) const;
  CubePlace place_of(const SearchRow& row) const;
  std::size_t asked() const { return trials_.size() - before_; }

  /// Returns the index of a point among the trials. Throws NoPointsLeft.
  std::size_t ask(const SearchRow& row);
  void ask_corners();
  void divide(const Score& score, std::size_t most_points);
  bool has_one_that_keeps() const;
  bool all_lack_numbers() const;
  /// Returns the best points of this region, without points close to a better point. The best point comes first.
  std::vector<std::size_t> starts() const;
  void walk_from(std::size_t start);
  /// Tries the neighbours of the best point, which differ from it by 1 in one key with whole numbers. Ends when no
  /// neighbour is better than the best point.
  void try_neighbours();

  const std::vector<SearchKey>& keys_;
  Trials& trials_;
  SearchRow row_;
  std::vector<std::size_t> searched_;
  std::size_t before_ = 0, most_points_ = 0;
  std::vector<std::size_t> mine_;  ///< indices of this region's points among the trials
};

}  // namespace sluice
