// The stage table of a model as a data island. A data island is a table as JSON for a web page. The form comes from the
// document 'AlexNet on one card'.
#pragma once

#include <string>
#include <vector>

#include "study/layer_table/columns.hpp"

namespace sluice {

/// Returns the table as JSON. If `target` is null, the table has no times. If no columns are named, the table has the
/// columns of 'AlexNet on one card'. Sluice can read such a table as a model.
std::string model_island(const Model& model, DType dtype, const Target* target = nullptr,
                         std::vector<const ModelColumn*> columns = {});

}  // namespace sluice
