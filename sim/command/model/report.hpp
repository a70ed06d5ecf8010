// Makes the stage table of a model, which has one row per layer, as text, as CSV and as JSON.
#pragma once

#include <string>

#include "command/model/cells.hpp"

namespace sluice {

/// The contents of the answer, which is printed as text, CSV or JSON. If `target` is null, the answer has no times.
struct ModelReport {
  const Model& model;
  DType dtype;
  const Target* target = nullptr;
  /// The columns that the user chose. If the user chose no columns, CSV has all columns, and text has the most useful
  /// columns.
  std::vector<const ModelColumn*> columns = {};
};

std::string model_text(const ModelReport& report);
std::string model_csv(const ModelReport& report);
/// Returns all columns as JSON. The help of `sluice model` describes the keys.
std::string model_json(const ModelReport& report);

}  // namespace sluice
