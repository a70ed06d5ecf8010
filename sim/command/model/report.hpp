// The stage table of a model as text, as CSV and as JSON.
#pragma once

#include <string>

#include "command/model/cells.hpp"

namespace sluice {

/// What all forms share. `target` may be null: then there are no times.
struct ModelReport {
  const Model& model;
  DType dtype;
  const Target* target = nullptr;
  /// Empty: the default of each form, which is all columns in CSV, and in text the ones asked for
  /// most.
  std::vector<const ModelColumn*> columns = {};
};

std::string model_text(const ModelReport& report);
std::string model_csv(const ModelReport& report);
/// All columns. The help of `sluice model` describes the keys.
std::string model_json(const ModelReport& report);

}  // namespace sluice
