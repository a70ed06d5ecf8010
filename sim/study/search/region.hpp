// One combination of the values that are tried one with each, and the ranges that are searched for
// it.
#pragma once

#include <cstddef>
#include <vector>

#include "study/search/optimiser.hpp"
#include "study/search/trials.hpp"

namespace sluice {

class Region {
 public:
  /// `row` has the values of all other keys; `searched` are places of the keys that are searched.
  Region(const std::vector<SearchKey>& keys, Trials& trials, SearchRow row,
         std::vector<std::size_t> searched);

  /// Asks at most so many points. True: it ended by itself, and not since these were asked.
  bool search(std::size_t most_points);

 private:
  struct NoPointsLeft {};

  const SearchKey& key(std::size_t dimension) const { return keys_[searched_[dimension]]; }
  SearchRow row_at(const CubePlace& at) const;
  CubePlace place_of(const SearchRow& row) const;
  std::size_t asked() const { return trials_.size() - before_; }

  /// The place of a point among the trials. Throws NoPointsLeft.
  std::size_t ask(const SearchRow& row);
  void ask_corners();
  void divide(const Score& score, std::size_t most_points);
  bool has_one_that_keeps() const;
  bool all_lack_numbers() const;
  /// The best points of this region that lie apart from one another, best first.
  std::vector<std::size_t> starts() const;
  void walk_from(std::size_t start);
  /// Whole numbers beside the best one, until none of them is better.
  void try_neighbours();

  const std::vector<SearchKey>& keys_;
  Trials& trials_;
  SearchRow row_;
  std::vector<std::size_t> searched_;
  std::size_t before_ = 0, most_points_ = 0;
  std::vector<std::size_t> mine_;  ///< places of its points among the trials
};

}  // namespace sluice
