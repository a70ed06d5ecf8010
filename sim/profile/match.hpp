// Finds the row of a profile that belongs to a layer of a model.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.hpp"
#include "profile/profile.hpp"

namespace sluice {

/// Finds the rows of a layer in a profile. The index contains all leaves (rows of operators) that give a batch. The key
/// of the index is the configuration, the shapes of the inputs of one sample, the element type and the pass. The index
/// holds pointers to rows of the profile.
class ProfileIndex {
 public:
  explicit ProfileIndex(const Profile& profile);

  /// The rows of an operator for each number of samples. The map is empty if the operator was not measured. A row
  /// without an element type counts for every element type.
  using ByBatch = std::map<std::int64_t, std::vector<const ProfileRow*>>;
  const ByBatch& of(const Layer& layer, std::string_view dtype, std::string_view pass) const;

 private:
  std::map<std::string, ByBatch> rows_;
};

/// Makes a row of a profile for the layer and `samples` samples. The row has operator, configuration, shapes, batch,
/// element type and pass.
ProfileRow row_for(const Layer& layer, std::int64_t samples, std::string_view dtype,
                   std::string_view pass);

/// Returns the row with the median time. All `rows` are measurements of one operator, in one or several nodes and
/// models. If the rows differ in a key column other than `node` and `model`, throws an InputError that names the column
/// and its values.
const ProfileRow& only_row(const std::vector<const ProfileRow*>& rows);

/// Returns the columns that distinguish the operators of one class.
const std::vector<std::string>& columns_of_operators();

/// Throws InputError if the rows differ in a key column that is not in `but`. The message says that
/// `what` was measured with several values of this column, and how to choose one of the values.
void require_alike(const std::vector<const ProfileRow*>& rows, const std::string& what,
                   const std::vector<std::string>& but);

}  // namespace sluice
