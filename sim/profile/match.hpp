// Which row of a profile is of which layer of a model.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.hpp"
#include "profile/profile.hpp"

namespace sluice {

/// The leaves of a profile that were measured with a batch, by operator: configuration, shapes of
/// inputs of one sample, element type, pass. Points into the profile.
class ProfileIndex {
 public:
  explicit ProfileIndex(const Profile& profile);

  /// By samples. Empty: the operator was not measured at all. Rows without an element type are of
  /// any.
  using ByBatch = std::map<std::int64_t, std::vector<const ProfileRow*>>;
  const ByBatch& of(const Layer& layer, std::string_view dtype, std::string_view pass) const;

 private:
  std::map<std::string, ByBatch> rows_;
};

/// The row that would be of the layer for so many samples: operator, configuration, shapes, batch,
/// element type and pass.
ProfileRow row_for(const Layer& layer, std::int64_t samples, std::string_view dtype,
                   std::string_view pass);

/// Of rows of one operator that were taken in several places (nodes, models), the middle one by its
/// time. Throws InputError where they differ in anything else, such as hot and cold: it names the
/// column and what there is.
const ProfileRow& only_row(const std::vector<const ProfileRow*>& rows);

/// Throws InputError where the rows, `what` was measured, differ in a key column other than `but`:
/// it names the column, what there is, and how one is chosen.
void require_alike(const std::vector<const ProfileRow*>& rows, const std::string& what,
                   const std::vector<std::string>& but);

}  // namespace sluice
