// The stage table of a model as a data island: as JSON that a web page can contain. The form of the table comes from
// the document 'AlexNet on one card'.
#pragma once

#include <string>
#include <vector>

#include "study/layer_table/columns.hpp"

namespace sluice {

/// Returns the table as JSON. If `target` is null, the table has no times. If `columns` is empty, the table has the
/// columns of 'AlexNet on one card'. Sluice can read a table with these columns as a model.
std::string model_island(const Model& model, DType dtype, const Target* target = nullptr,
                         std::vector<const ModelColumn*> columns = {});

}  // namespace sluice
