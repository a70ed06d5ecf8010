// The stage table of a model as text, as CSV and as JSON.
#pragma once

#include <string>

#include "command/model/cells.hpp"

namespace sluice {

/// The things that all forms of the answer need. If `target` is null, they have no times.
struct ModelReport {
  const Model& model;
  DType dtype;
  const Target* target = nullptr;
  /// If empty, each form has its default columns. They are all columns in CSV, and the most useful ones in
  /// text.
  std::vector<const ModelColumn*> columns = {};
};

std::string model_text(const ModelReport& report);
std::string model_csv(const ModelReport& report);
/// Returns all columns as JSON. The help of `sluice model` describes the keys.
std::string model_json(const ModelReport& report);

}  // namespace sluice
