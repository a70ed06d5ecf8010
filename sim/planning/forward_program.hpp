// Describes inference as a program (program.hpp). Each micro-batch of a round runs through all stages. Each stage runs
// on the device that holds its weights during the whole run.
#pragma once

#include <string>
#include <vector>

#include "planning/parts.hpp"
#include "planning/program.hpp"

namespace sluice {

struct ForwardShape {
  std::vector<std::string> devices;  ///< indexed by stage
  Round round = {};
  bool return_outputs = true;
  /// A device has this number of buffers for loaded inputs, and as many for answers that are saved.
  std::int64_t buffers = usual_buffers;
  /// The load of an input may be listed this many micro-batches before its use.
  std::int64_t inputs_ahead = 0;
};

/// Returns whether a layer of the stage reads the output of this layer.
bool reads(const Model& model, const Stage& stage, std::uint32_t layer);

/// Returns the program. A tensor may cross several cuts. It stays on its maker's device until all stages that read it
/// have run. This device sends it once to each other device with a reader.
Program forward_program(const PolicyRequest& request, const ForwardShape& shape);

}  // namespace sluice
