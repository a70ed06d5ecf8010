// The columns of a profile. Reading, writing, keys and help are all made from this one table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.hpp"
#include "profile/profile.hpp"

namespace sluice {

struct ProfileColumn {
  enum class Kind {
    text,
    number,  ///< in HDF5 a float64
    samples  ///< a list of numbers
  };
  std::string name;
  std::string summary;
  Kind kind = Kind::text;
  bool key = false;                       ///< rows that differ in it are different rows
  Dimension dimension = Dimension::none;  ///< the dimension of its numbers
  std::string (*get)(const ProfileRow& row) = nullptr;  ///< returns "" if the row has no value
  /// `text` is not empty. Throws InputError without a position.
  void (*set)(ProfileRow& row, const std::string& text) = nullptr;
};

/// Returns the columns in the order in which they are written.
const std::vector<ProfileColumn>& profile_columns();
std::vector<std::string> profile_column_names();
/// Returns null if there is no such column.
const ProfileColumn* find_profile_column(std::string_view name);
/// Throws InputError (without a position) if there is no such column: "unknown column … (did you mean …)".
const ProfileColumn& profile_column(std::string_view name);

/// Returns the row's key as one text. The columns in `but` are left out.
std::string key_of(const ProfileRow& row, const std::vector<std::string>& but = {});

/// Fills in the cells that follow from others: statistics of samples, `processed`. Throws
/// InputError (without a position) if the cells contradict each other.
void settle_row(ProfileRow& row);

}  // namespace sluice
