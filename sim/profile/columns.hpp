// The columns of a profile. The readers, the writers, the keys of rows and the help use one table of columns.
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
  /// Whether the column is part of a row's key.
  bool key = false;
  /// The dimension of the column's numbers, such as seconds.
  Dimension dimension = Dimension::none;
  /// Returns the row's value as a text. Without a value, returns "".
  std::string (*get)(const ProfileRow& row) = nullptr;
  /// Sets the value of the row from `text`, which is not empty. Throws InputError without a position.
  void (*set)(ProfileRow& row, const std::string& text) = nullptr;
};

/// Returns the columns in the order in which a profile is written.
const std::vector<ProfileColumn>& profile_columns();
std::vector<std::string> profile_column_names();
/// Returns the column of this name, or nullptr.
const ProfileColumn* find_profile_column(std::string_view name);
/// Returns the column of this name. If there is none, throws InputError without a position. The message suggests a
/// known column.
const ProfileColumn& profile_column(std::string_view name);

/// Returns the row's key as one text, without the columns that `but` names.
std::string key_of(const ProfileRow& row, const std::vector<std::string>& but = {});

/// Computes the statistics of the row's samples. Throws InputError without a position if values of the row contradict
/// each other.
void settle_row(ProfileRow& row);

}  // namespace sluice
