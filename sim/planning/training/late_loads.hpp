// When the loads of a program come where they are to be waited for by nobody, and be on the device
// no longer than that takes.
#pragma once

#include <optional>
#include <vector>

#include "planning/program.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// How long what has been loaded is on its way, by device.
std::vector<double> load_latencies(const Platform& platform,
                                   const std::vector<std::string>& devices);

/// Each load arrives when its operation begins, or ends when the next load on the copy engine must
/// begin; and an operation sooner, if the engine is free by then. `latency_s`: of loads, by device.
/// `pace`: timed as on a machine whose loads of a round take so many times its computations,
/// without latency; so the places of loads do not follow from how fast the machine is. None: as
/// this one is.
void load_late(Program& program, const std::vector<double>& latency_s,
               std::optional<double> pace = {});

}  // namespace sluice
