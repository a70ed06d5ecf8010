// A region has one value for each key that is not searched, and the ranges of the keys that are searched.
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

  /// Searches the region, and evaluates at most `most_points` points. Returns true if the search came to its end before
  /// it ran out of points.
  bool search(std::size_t most_points);

 private:
  struct NoPointsLeft {};

  const SearchKey& key(std::size_t dimension) const { return keys_[searched_[dimension]]; }
  SearchRow row_at(const CubePlace& at) const;
  CubePlace place_of(const SearchRow& row) const;
  std::size_t asked() const { return trials_.size() - before_; }

  /// Returns the index of a point among the trials. If the point is new, evaluates it. Throws NoPointsLeft if no more
  /// points may be evaluated.
  std::size_t ask(const SearchRow& row);
  void ask_corners();
  void divide(const Score& score, std::size_t most_points);
  bool has_one_that_keeps() const;
  bool all_lack_numbers() const;
  /// Returns the best points of this region, the best point first. A point that is close to a better point is left out.
  std::vector<std::size_t> starts() const;
  void walk_from(std::size_t start);
  /// Tries the neighbours of the best point. A neighbour differs from it by 1 in one of the keys with whole numbers. If
  /// a neighbour is better, the neighbours of the new best point are tried, and so on.
  void try_neighbours();

  const std::vector<SearchKey>& keys_;
  Trials& trials_;
  SearchRow row_;
  std::vector<std::size_t> searched_;
  std::size_t before_ = 0, most_points_ = 0;
  std::vector<std::size_t> mine_;  ///< indices of this region's points among the trials
};

}  // namespace sluice
