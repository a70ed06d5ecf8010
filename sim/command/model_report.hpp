// The stage table of a model as text, as CSV and as JSON.
#pragma once

#include <string>

#include "command/stage_table.hpp"

namespace sluice {

/// `target` may be null: without times. The JSON's keys are described in the help of `sluice
/// model`.
std::string model_text(const Model& model, const Target* target);
std::string model_csv(const Model& model, const Target* target);
std::string model_json(const Model& model, const Target* target);

/// A stage table gives FLOP, but no MACs.
inline bool knows_macs(const Model& model) {
  return model.macs() > 0 || model.flop() == 0;
}

}  // namespace sluice
