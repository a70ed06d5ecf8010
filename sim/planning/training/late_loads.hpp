// When the loads of a program come where they are to be waited for by nobody, and be on the device
// no longer than that takes.
#pragma once

#include <vector>

#include "planning/program.hpp"

namespace sluice {

/// Each load arrives when its operation begins, or ends when the next load on the copy engine must
/// begin; and an operation sooner, if the engine is free by then. `latency_s`: of loads, by device.
void load_late(Program& program, const std::vector<double>& latency_s);

}  // namespace sluice
