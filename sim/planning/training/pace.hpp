// How fast loads are assumed to be when their places in the list of a training step are decided, and in which order
// the loads of an operation come. With such an assumption, plans that are fast on a slower machine are also tried on a
// faster machine.
#pragma once

#include <array>
#include <compare>
#include <optional>

namespace sluice {

/// A pace does not depend on the machine, so every machine tries the same places, whatever its bandwidths, latencies and
/// rates are.
struct Pace {
  /// All loads of a round together take this many times as long as all its computations. The latency is not counted.
  double loads = 1;
  double latency = 0;  ///< the latency of each load, as a share of the seconds of all computations of a round
  auto operator<=>(const Pace&) const = default;
};

/// With this pace, each load is placed as early as it may be.
constexpr Pace as_early_as_may_be{1e6};

/// The order of the loads that one operation needs.
enum class LoadOrder {
  as_listed,  ///< in the order in which the step lists them
  /// A small load needs little room, so it may come while there is not yet room for the others.
  smallest_first,
  /// Weights are in host memory from the start. So they may come while the other tensors of the operation are still
  /// being saved, or are still needed on the device.
  weights_first
};
inline constexpr std::array load_orders = {LoadOrder::as_listed, LoadOrder::smallest_first,
                                           LoadOrder::weights_first};

/// When the loads of a step come, and in which order.
struct LoadSequence {
  std::optional<Pace> pace = {};  ///< if there is no value, loads take as long as on this machine
  LoadOrder order = LoadOrder::as_listed;
  auto operator<=>(const LoadSequence&) const = default;
};

/// One of the ways to list the loads of a tape that a search for fates tries.
struct TriedListing {
  LoadSequence sequence = {};
  /// Whether each load is listed before the operation that needs it. Otherwise it is listed as early as there is room.
  bool late = false;
  auto operator<=>(const TriedListing&) const = default;
};

}  // namespace sluice
