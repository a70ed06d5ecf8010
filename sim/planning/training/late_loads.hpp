// Decides when the loads of a program come. They come early enough that no operation waits for them. Otherwise they
// come as late as possible, because they occupy the device from then on.
#pragma once

#include <optional>
#include <vector>

#include "planning/program.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// The latency of loads to each device.
std::vector<double> load_latencies(const Platform& platform,
                                   const std::vector<std::string>& devices);

/// Places each load so that it arrives when its operation begins, or earlier if the copy engine must begin its next
/// load then. The load is listed one operation earlier if the engine is free by then. `latency_s` is the latency of
/// loads, per device. With a `pace`, loads are timed as on a machine on which the loads of a round take `pace` times as
/// long as its computations, without latency. Then the positions of loads do not depend on the speed of the machine.
/// Without a `pace`, loads are timed as on this machine.
void load_late(Program& program, const std::vector<double>& latency_s,
               std::optional<double> pace = {});

}  // namespace sluice
