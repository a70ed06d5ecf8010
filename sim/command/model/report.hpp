// The stage table of a model as text, as CSV and as JSON.
#pragma once

#include <string>

#include "command/model/cells.hpp"

namespace sluice {

/// What the forms share. `target` may be null: without times.
struct ModelReport {
  const Model& model;
  DType dtype;
  const Target* target = nullptr;
  /// None: those of the form; all in CSV, in text those that are asked for most.
  std::vector<const ModelColumn*> columns = {};
};

std::string model_text(const ModelReport& report);
std::string model_csv(const ModelReport& report);
/// All columns. The keys are described in the help of `sluice model`.
std::string model_json(const ModelReport& report);

}  // namespace sluice
