// Compares two profiles row by row and says whether they agree.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace sluice {

/// A row that both profiles have.
struct ComparedRow {
  const ProfileRow* a = nullptr;
  const ProfileRow* b = nullptr;
  double of_a = 0, of_b = 0;  ///< the seconds or the joules of the two rows, both above 0

  double ratio() const { return of_a / of_b; }
  /// Returns the greater number divided by the lesser. The result is at least 1.
  double factor() const { return of_a > of_b ? of_a / of_b : of_b / of_a; }
};

struct CompareOptions {
  bool energy = false;  ///< whether joules are compared instead of seconds
  /// A pair of rows is left out if one of its two numbers is at most `least`.
  double least = 0;
  double tolerance = 0.05;  ///< two rows agree if of_a / of_b differs from 1 by at most this
  /// Key columns in which a row of A and the matching row of B may differ.
  std::vector<std::string> but = {};
};

/// The result of a comparison. The result holds pointers to rows of the profiles.
struct Comparison {
  std::vector<ComparedRow> rows;  ///< the compared rows, in the order of profile A
  /// The number of pairs of rows in which both rows have a number.
  std::size_t pairs = 0;
  /// The number of pairs with a 0. These pairs are left out.
  std::size_t with_zero = 0;
  /// The number of pairs with a number that is at most `least`. These pairs are left out.
  std::size_t below_least = 0;
  /// The number of pairs in which a row has no number.
  std::size_t unmeasured = 0;
  std::size_t only_a = 0, only_b = 0;
  std::size_t agreeing = 0;  ///< the number of `rows` that agree
  /// The median and the 10th and 90th percentile of the ratios A / B. If `rows` is empty, all three are 0.
  double median = 0, tenth = 0, ninetieth = 0;
  double sum_a = 0, sum_b = 0;

  /// Returns the row with the greatest difference, or nullptr if there are no rows.
  const ComparedRow* worst() const;
  double agreeing_share() const;
};

/// `options.but` lists columns that do not count. If two rows of one profile differ only in these columns, throws
/// InputError.
Comparison compare(const Profile& a, const Profile& b, const CompareOptions& options);

/// Returns the rows in which `column` has the value `value`. Throws InputError if the column is unknown. If no row has
/// the value, the message of the InputError lists the values that occur.
Profile rows_where(const Profile& profile, const std::string& column, const std::string& value);

}  // namespace sluice
