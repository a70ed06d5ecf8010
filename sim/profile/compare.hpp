// Two profiles row by row: do they agree?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace sluice {

/// A row of both.
struct ComparedRow {
  const ProfileRow* a = nullptr;
  const ProfileRow* b = nullptr;
  double of_a = 0, of_b = 0;  ///< seconds or joules, both above 0

  double ratio() const { return of_a / of_b; }
  /// How far apart they are, whichever is more: at least 1.
  double apart() const { return of_a > of_b ? of_a / of_b : of_b / of_a; }
};

struct CompareOptions {
  bool energy = false;      ///< joules instead of seconds
  double least = 0;         ///< rows where one of both is at most that are left out
  double tolerance = 0.05;  ///< rows whose ratio is at most so far from 1 agree
  /// Columns in which rows of A and B may differ and still be the same row.
  std::vector<std::string> but = {};
};

/// What became of the rows of both. The rows point into the profiles.
struct Comparison {
  std::vector<ComparedRow> rows;  ///< in the order of A
  std::size_t pairs = 0;          ///< rows that both have, with a number in both
  std::size_t with_zero = 0;      ///< of the pairs: 0 in one of both, left out
  std::size_t below_least = 0;    ///< of the others: too small, left out
  std::size_t unmeasured = 0;     ///< rows that both have, without a number in one of both
  std::size_t only_a = 0, only_b = 0;
  std::size_t agreeing = 0;                     ///< of `rows`
  double median = 0, tenth = 0, ninetieth = 0;  ///< of the ratios; 0 where there are no rows
  double sum_a = 0, sum_b = 0;

  /// The row that is farthest apart; null where there are none.
  const ComparedRow* worst() const;
  double agreeing_share() const;
};

/// Throws InputError: two rows of one profile are the same but for those columns.
Comparison compare(const Profile& a, const Profile& b, const CompareOptions& options);

/// The rows in which `column` is `value`. Throws InputError: unknown column, or no such row (with
/// the values that there are).
Profile rows_where(const Profile& profile, const std::string& column, const std::string& value);

}  // namespace sluice
