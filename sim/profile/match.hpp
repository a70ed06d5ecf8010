// Finds the row of a profile that belongs to a layer of a model.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.hpp"
#include "profile/profile.hpp"

namespace sluice {

/// Finds the rows of a layer in a profile. The index contains the leaves (rows of operators) that were measured with a
/// known batch. The key of the index has four parts: the configuration, the input shapes of one sample, the element
/// type, and the pass. The index holds pointers to rows of the profile.
class ProfileIndex {
 public:
  explicit ProfileIndex(const Profile& profile);

  /// The rows of an operator for each number of samples. The map is empty if the operator was not measured. Rows
  /// without an element type are used only if no row has the element type `dtype`.
  using ByBatch = std::map<std::int64_t, std::vector<const ProfileRow*>>;
  const ByBatch& of(const Layer& layer, std::string_view dtype, std::string_view pass) const;

 private:
  std::map<std::string, ByBatch> rows_;
};

/// Makes the row that describes the layer in a profile, with a batch of `samples` samples. The row has operator,
/// configuration, shapes, batch, element type and pass.
ProfileRow row_for(const Layer& layer, std::int64_t samples, std::string_view dtype,
                   std::string_view pass);

/// Returns the row with the median time. All `rows` are measurements of one operator, in one or several nodes and
/// models. If the rows differ in any key column except `node` and `model`, throws InputError. The message names the
/// column and its values.
const ProfileRow& only_row(const std::vector<const ProfileRow*>& rows);

/// Returns the names of the columns in which operators of one class differ from each other, such as the input shapes.
const std::vector<std::string>& columns_of_operators();

/// `but` lists key columns in which the rows may differ. If the rows differ in another key column, throws InputError.
/// `what` begins the message, for example "the operator was". The message lists the values of the column, and says how
/// to choose a value.
void require_alike(const std::vector<const ProfileRow*>& rows, const std::string& what,
                   const std::vector<std::string>& but);

}  // namespace sluice
