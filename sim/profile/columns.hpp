// The columns of a profile: the one table from which reading, writing, keys and help are made.
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
  Dimension dimension = Dimension::none;  ///< of its numbers
  std::string (*get)(const ProfileRow& row) = nullptr;  ///< empty: the row does not say it
  /// `text` is not empty. Throws InputError without a position.
  void (*set)(ProfileRow& row, const std::string& text) = nullptr;
};

/// In the order in which they are written.
const std::vector<ProfileColumn>& profile_columns();
std::vector<std::string> profile_column_names();
/// Null where there is none.
const ProfileColumn* find_profile_column(std::string_view name);
/// Throws InputError (without a position): unknown column (did you mean).
const ProfileColumn& profile_column(std::string_view name);

/// The row's key as one text, without the named columns.
std::string key_of(const ProfileRow& row, const std::vector<std::string>& but = {});

/// Fills in what follows from the other cells: statistics of samples, `processed`. Throws
/// InputError (without a position) where the cells contradict each other.
void settle_row(ProfileRow& row);

}  // namespace sluice
