// The table of a profile's columns. The readers, the writers and the help use this table. The table also says which
// columns form the key of a row.
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
    samples  ///< a list of numbers, one per sample
  };
  std::string name;
  std::string summary;
  Kind kind = Kind::text;
  /// Whether the column belongs to the key of a row.
  bool key = false;
  /// The dimension of the numbers in the column, such as seconds.
  Dimension dimension = Dimension::none;
  /// Returns the value of the row in this column as a text, or "" if the row has no value.
  std::string (*get)(const ProfileRow& row) = nullptr;
  /// Sets the value of the row in this column. `text` must not be empty. If the text cannot be read, throws InputError
  /// without a position.
  void (*set)(ProfileRow& row, const std::string& text) = nullptr;
};

/// Returns all columns, in the order in which they are written.
const std::vector<ProfileColumn>& profile_columns();
std::vector<std::string> profile_column_names();
/// Returns the column of this name, or nullptr.
const ProfileColumn* find_profile_column(std::string_view name);
/// Returns the column of this name. If there is none, throws InputError without a position, and the message suggests a
/// known column.
const ProfileColumn& profile_column(std::string_view name);

/// Returns the key of the row as one text. The columns that `but` names are left out.
std::string key_of(const ProfileRow& row, const std::vector<std::string>& but = {});

/// Computes the statistics of the row's samples. Throws InputError without a position if one value of the row
/// contradicts another.
void settle_row(ProfileRow& row);

}  // namespace sluice
