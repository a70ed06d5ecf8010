// Compares two profiles, called A and B, row by row, and says how far their rows agree.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace sluice {

/// Two rows, one of each profile, with the same key.
struct ComparedRow {
  const ProfileRow* a = nullptr;
  const ProfileRow* b = nullptr;
  double of_a = 0, of_b = 0;  ///< the seconds or the joules of the two rows, both above 0

  double ratio() const { return of_a / of_b; }
  /// Returns the greater of `of_a` and `of_b` divided by the lesser, so at least 1.
  double factor() const { return of_a > of_b ? of_a / of_b : of_b / of_a; }
};

struct CompareOptions {
  bool energy = false;  ///< whether joules are compared instead of seconds
  /// A pair of rows is left out if one of them has at most `least` seconds (or joules).
  double least = 0;
  double tolerance = 0.05;  ///< two rows agree if of_a / of_b differs from 1 by at most this
  /// Columns of the key in which the two rows of a pair may differ.
  std::vector<std::string> but = {};
};

/// The result of a comparison. It points to rows of the two profiles, which must outlive it.
struct Comparison {
  std::vector<ComparedRow> rows;  ///< the compared rows, in the order of profile A
  /// The number of pairs in which both rows have seconds (or joules).
  std::size_t pairs = 0;
  /// Of these pairs, those in which the seconds of a row are 0. They are left out.
  std::size_t with_zero = 0;
  /// Of the other pairs, those in which a row has at most `least` seconds. They are left out, too.
  std::size_t below_least = 0;
  /// The number of further pairs, in which a row has no seconds.
  std::size_t unmeasured = 0;
  std::size_t only_a = 0, only_b = 0;
  std::size_t agreeing = 0;  ///< the number of `rows` that agree
  /// The median, the 10th percentile and the 90th percentile of the ratios A / B, or 0 if `rows` is empty.
  double median = 0, tenth = 0, ninetieth = 0;
  double sum_a = 0, sum_b = 0;

  /// Returns the element of `rows` with the greatest factor(), or nullptr if `rows` is empty.
  const ComparedRow* worst() const;
  double agreeing_share() const;
};

/// Compares the rows of A with the rows of B that have the same key. Columns in `options.but` do not count. Throws
/// InputError if two rows of one profile differ only in such columns.
Comparison compare(const Profile& a, const Profile& b, const CompareOptions& options);

/// Returns a profile with only the rows in which `column` has the value `value`. Throws InputError if the column is
/// unknown, or if no row has the value. In the second case, the message lists values that occur.
Profile rows_where(const Profile& profile, const std::string& column, const std::string& value);

}  // namespace sluice
