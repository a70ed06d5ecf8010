// Inference as a program (program.hpp): each micro-batch of a round runs through all stages. Each stage runs on its own
// device, where its weights stay.
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
  std::int64_t buffers = usual_buffers;  ///< inputs and answers on a device for transfers
  std::int64_t inputs_ahead = 0;         ///< inputs listed before the micro-batches that use them
};

/// A tensor that crosses several cuts stays where it was made until its last reader has run. It is sent once to each
/// other device that reads it.
Program forward_program(const PolicyRequest& request, const ForwardShape& shape);

}  // namespace sluice
