// Describes inference as a program (program.hpp): each micro-batch of a round runs through all stages. Each stage runs
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
  /// How many inputs and how many answers may be on a device for transfers.
  std::int64_t buffers = usual_buffers;
  std::int64_t inputs_ahead = 0;  ///< how many micro-batches early an input may be listed
};

/// Returns the program. A tensor that crosses several cuts stays on the device that made it until its last reader has
/// run. That device sends it once to each other device with a reader.
Program forward_program(const PolicyRequest& request, const ForwardShape& shape);

}  // namespace sluice
