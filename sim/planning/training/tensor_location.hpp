// Where the instances of a tensor of a training step are, while the step is being made.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/error.hpp"
#include "base/few.hpp"
#include "planning/program.hpp"

namespace sluice {

/// An instance of a tensor, and the device that holds it.
struct Held {
  std::uint32_t device = 0, instance = none;
};

/// Where a tensor is now. If host memory has a copy, `copy` is the instance whose save made it.
struct TensorLocation {
  Few<Held, 1> on;  ///< one element for each device that holds the tensor
  std::uint32_t copy = none;
  /// Only for gradients: the last slot that added numbers to the gradient, or -1 if none did.
  std::int64_t changed_at = -1;

  /// Returns the instance on this device, or `none`.
  std::uint32_t at(std::uint32_t device) const {
    for (const Held& held : on)
      if (held.device == device) return held.instance;
    return none;
  }
  void be_only(Held held) {
    on.clear();
    on.push_back(held);
  }
  /// Records a new instance on a device. Other devices that hold the tensor keep theirs.
  void come(Held held) {
    for (Held& known : on)
      if (known.device == held.device) return void(known = held);
    on.push_back(held);
  }
  /// Returns the instance on the device with the lowest number.
  std::uint32_t first() const {
    if (on.empty()) throw InternalError("a tape reads a tensor that no device holds");
    return std::ranges::min(on, {}, &Held::device).instance;
  }
};

}  // namespace sluice
