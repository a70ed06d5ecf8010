// Decides when the loads of a program (program.hpp) start. A load starts as late as it can without making an operation
// wait, because its tensor occupies memory from the start of the load.
#pragma once

#include <vector>

#include "planning/program.hpp"
#include "planning/training/pace.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// Returns, indexed by device, the latency of loads from host memory to the device.
std::vector<double> load_latencies(const Platform& platform,
                                   const std::vector<std::string>& devices);

/// Places each load so that its tensor arrives when the operation that needs it begins. There are two exceptions. If
/// the copy engine's next load would then arrive too late, the load is placed earlier. If the copy engine is free
/// during the previous operation, the load is placed one operation earlier. `latency_s` is the result of
/// load_latencies().
void load_late(Program& program, const std::vector<double>& latency_s,
               const LoadSequence& sequence = {});

}  // namespace sluice
