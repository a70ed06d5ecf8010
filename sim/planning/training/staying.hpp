// Some tensors of a stage may stay on the device in training, although other tensors take turns.
#pragma once

#include <compare>

namespace sluice {

/// Says which tensors of a stage stay on the device during the whole run. Gradients and optimizer state stay only if
/// the weights stay, too.
struct StayingTensors {
  bool weights = false, gradients = false, optimizer = false;

  bool all() const { return weights && gradients && optimizer; }
  auto operator<=>(const StayingTensors&) const = default;
};
constexpr StayingTensors all_stay{.weights = true, .gradients = true, .optimizer = true};

}  // namespace sluice
