// Decides when the loads of a program (program.hpp) start. A load starts as late as it can without making an operation
// wait, because its tensor occupies memory from the start of the load.
#pragma once

#include <compare>
#include <optional>
#include <vector>

#include "planning/program.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// Returns, indexed by device, the latency of loads from host memory to the device.
std::vector<double> load_latencies(const Platform& platform,
                                   const std::vector<std::string>& devices);

/// With this pace, load_late() places each load as early as it may be.
constexpr double as_early_as_may_be = 1e6;

/// How long loads take for load_late(), and in which order they come.
struct LoadPace {
  /// Without a value, loads take as long as on this machine. With a value, loads have no latency, and all loads of a
  /// round together take `pace` times as long as all its computations. Then the places of the loads do not depend on how
  /// fast the machine is.
  std::optional<double> pace = {};
  /// Whether the smallest of the loads that one operation needs comes first. It needs the least room, so it may come
  /// while there is not yet room for the others. If false, they come in the order in which the step lists them.
  bool smallest_first = false;
  auto operator<=>(const LoadPace&) const = default;
};

/// Places each load so that its tensor arrives when the operation that needs it begins. There are two exceptions. If
/// the copy engine's next load would then arrive too late, the load is placed earlier. If the copy engine is free
/// during the previous operation, the load is placed one operation earlier. `latency_s` is the result of
/// load_latencies().
void load_late(Program& program, const std::vector<double>& latency_s, const LoadPace& pace = {});

}  // namespace sluice
