// Decides when the loads of a program (program.hpp) start. A load starts as late as it can without
// making an operation wait, because the loaded tensor occupies memory from the start of the load.
#pragma once

#include <optional>
#include <vector>

#include "planning/program.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// Returns the latency of loads to each device.
std::vector<double> load_latencies(const Platform& platform,
                                   const std::vector<std::string>& devices);

/// Places each load so that its tensor arrives when the operation that needs the tensor begins. A load
/// is placed earlier if the next load of the copy engine would otherwise arrive too late. A load is
/// placed one more operation earlier if the copy engine is free then. `latency_s` holds the latency of
/// loads to each device. Without a `pace`, loads are timed as on this machine. With a `pace`, they are
/// timed as on a machine without latency. On that machine, the loads of a round take `pace` times as long
/// as the computations of the round. The positions of loads then do not depend on the speed of the machine.
void load_late(Program& program, const std::vector<double>& latency_s,
               std::optional<double> pace = {});

}  // namespace sluice
