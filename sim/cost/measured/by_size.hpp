// What was measured of operators of a class, as the share of a device's rates that they reach, by
// their sizes.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "cost/fitted/kernel.hpp"
#include "platform/platform.hpp"
#include "profile/profile.hpp"
#include "profile/utilisation.hpp"

namespace sluice {

class SharesBySize {
 public:
  /// Of the rows of an element type that are whole forward passes of leaves, dense, with `seconds`
  /// above 0 and sizes that are understood; of rows of equal sizes the median counts. Throws
  /// InputError where rows of a class differ in how or on what they were measured.
  SharesBySize(const Profile& profile, const Device& device, DType dtype,
               const std::function<std::optional<double>(const ProfileRow&)>& seconds);

  /// None: nothing of its class was measured, or it lies outside of what was.
  std::optional<double> share(const Kernel& kernel) const;
  /// By class: how far off it is where a row is left out. Classes of one or two sizes are not in
  /// it.
  std::map<std::string, LeftOut> left_out() const;

 private:
  std::map<std::string, Utilisation> classes_;
};

/// Seconds of a kernel at the device's rates: the longer of its FLOP and its bytes; of a stream,
/// its bytes.
double ideal_seconds(const Kernel& kernel, const Device& device, DType dtype);

}  // namespace sluice
