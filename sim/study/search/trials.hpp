// The points that a search has evaluated. Each point is evaluated once, and stored like a point of a sweep.
#pragma once

#include <map>
#include <vector>

#include "study/search/search.hpp"

namespace sluice {

/// The values of a point: for each key the text that stands after KEY=.
using SearchRow = std::vector<std::string>;

class Trials {
 public:
  explicit Trials(const SearchRequest& request) : request_(request) {}

  std::size_t size() const { return rows_.size(); }
  const SearchRow& row(std::size_t place) const { return rows_[place]; }
  const Merit& merit(std::size_t place) const { return merits_[place]; }
  bool knows(const SearchRow& row) const { return places_.contains(row); }

  /// Returns the index of a point. If the point is new, evaluates it first.
  std::size_t ask(const SearchRow& row);
  /// Evaluates those of the points that are new, several at the same time.
  void ask_all(const std::vector<SearchRow>& rows);
  /// Returns true if no point could be evaluated, which means that a varied key is wrong.
  bool all_failed() const;
  /// Returns true if the point ran, but lacks the number of the goal or of a limit.
  bool lacks_numbers(std::size_t place) const;
  /// Returns all points with their merits, and empties the list of trials. The goal names a number that each point
  /// should have, such as a metric, and each limit names one, too. Throws UsageError if points ran, and one of these
  /// numbers is missing at all of them.
  SearchResult result();

 private:
  void take(const std::vector<SearchRow>& rows, SweepResult answers);
  SweepResult sweep(const std::vector<SearchRow>& rows, bool verify) const;
  Merit merit_of(const SearchRow& row, const PointResult& outcome);
  void require_number(const SearchNumber& number) const;
  void verify(SearchResult& result) const;

  const SearchRequest& request_;
  std::map<SearchRow, std::size_t> places_;
  std::vector<SearchRow> rows_;
  std::vector<PointResult> outcomes_;
  std::vector<Merit> merits_;
  std::size_t from_store_ = 0;
};

}  // namespace sluice
