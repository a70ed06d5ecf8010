// Decides when the loads of a program (program.hpp) start. The loaded tensor occupies memory from the start of the
// load. So a load starts as late as it can without making an operation wait.
#pragma once

#include <optional>
#include <vector>

#include "planning/program.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// Returns the latency of loads to each device.
std::vector<double> load_latencies(const Platform& platform,
                                   const std::vector<std::string>& devices);

/// An operation needs the tensor of each load. Usually, the tensor arrives when the operation begins. If the next load
/// of the copy engine would arrive too late, the load is placed earlier. If the copy engine is free during the previous
/// operation, the load is placed one operation earlier. `latency_s` holds the latency of loads to each device. Without
/// a `pace`, loads are timed as on this machine. With a `pace`, loads have no latency, and the loads of a round take
/// `pace` times as long as the computations of the round. The positions of loads then do not depend on the speed of the
/// machine.
void load_late(Program& program, const std::vector<double>& latency_s,
               std::optional<double> pace = {});

}  // namespace sluice
