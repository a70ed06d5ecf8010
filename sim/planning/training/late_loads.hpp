// Decides when the loads of a program come. A load comes as late as possible, because the loaded tensor occupies
// memory from the start of the load. But a load comes early enough that no operation waits for it.
#pragma once

#include <optional>
#include <vector>

#include "planning/program.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// Returns the latency of loads to each device.
std::vector<double> load_latencies(const Platform& platform,
                                   const std::vector<std::string>& devices);

/// Places each load so that it arrives when its operation begins, or so early that the next load of the copy engine
/// arrives in time. If the engine is free one operation earlier, the load is listed one operation earlier. `latency_s`
/// holds the latency of loads to each device. With a `pace`, loads are timed as on another machine. On this other
/// machine, there is no latency, and the loads of a round take `pace` times as long as the computations of the round.
/// With a `pace`, the positions of loads do not depend on the speed of the machine. Without a `pace`, loads are timed
/// as on this machine.
void load_late(Program& program, const std::vector<double>& latency_s,
               std::optional<double> pace = {});

}  // namespace sluice
