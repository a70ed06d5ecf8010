// The columns of a profile. This one table is the source for reading, writing, keys and help.
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
    number,  ///< a float64 in HDF5
    samples  ///< a list of numbers
  };
  std::string name;
  std::string summary;
  Kind kind = Kind::text;
  bool key = false;                                     ///< the column is part of the key of a row
  Dimension dimension = Dimension::none;                ///< the dimension of the column's numbers
  std::string (*get)(const ProfileRow& row) = nullptr;  ///< returns "" if the row has no value
  /// Sets the value of the row from `text`, which is not empty. Throws InputError without a position.
  void (*set)(ProfileRow& row, const std::string& text) = nullptr;
};

/// Returns the columns in the order in which they are written.
const std::vector<ProfileColumn>& profile_columns();
std::vector<std::string> profile_column_names();
/// Returns nullptr if there is no such column.
const ProfileColumn* find_profile_column(std::string_view name);
/// Throws InputError without a position if there is no such column. The message suggests a known column.
const ProfileColumn& profile_column(std::string_view name);

/// Returns the row's key as one text, without the columns in `but`.
std::string key_of(const ProfileRow& row, const std::vector<std::string>& but = {});

/// Fills in the cells that follow from other cells: statistics of samples, and `processed`. Throws InputError without a
/// position if the cells contradict each other.
void settle_row(ProfileRow& row);

}  // namespace sluice
