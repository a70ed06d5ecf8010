// Describes inference as a program (program.hpp), for policies whose weights stay on the devices. Each micro-batch of a
// round runs through all stages. A stage runs on the device that holds its weights.
#pragma once

#include <string>
#include <vector>

#include "planning/common_parameters.hpp"
#include "planning/program.hpp"
#include "workload/rounds.hpp"

namespace sluice {

struct ForwardShape {
  std::vector<std::string> devices;  ///< indexed by stage
  Round round = {};
  bool return_outputs = true;
  /// The number of buffers that a device has for loaded inputs. It has the same number of buffers for answers that are
  /// saved.
  std::int64_t buffers = usual_buffers;
  /// The load of an input may be listed this many micro-batches before the use of the input.
  std::int64_t inputs_ahead = 0;
};

/// Returns the program. A tensor stays on the device that has made it until all stages that read the tensor have run.
/// If stages on other devices read it, it is sent once to each of these devices.
Program forward_program(const PolicyRequest& request, const ForwardShape& shape);

}  // namespace sluice
