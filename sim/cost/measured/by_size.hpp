// The shares of a device's rates that measured operators reach, by class and by their
// sizes.
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
  /// Uses the dense rows of one element type that are whole forward passes of leaves, with
  /// `seconds` above 0 and sizes that are understood. Of rows with equal sizes the median counts.
  /// Throws InputError if rows of a class differ in how or on what they were measured.
  SharesBySize(const Profile& profile, const Device& device, DType dtype,
               const std::function<std::optional<double>(const ProfileRow&)>& seconds);

  /// Returns nothing if the kernel's class was not measured, or if its sizes are outside the measured ones.
  std::optional<double> share(const Kernel& kernel) const;
  /// Returns the errors of each class when one measured row is left out and estimated from the
  /// others. Classes of one or two sizes are missing.
  std::map<std::string, LeftOut> left_out() const;

 private:
  std::map<std::string, Utilisation> classes_;
};

/// Returns the seconds of a kernel at the device's rates: the longer of FLOP and bytes, or for a
/// stream, the seconds of its bytes.
double ideal_seconds(const Kernel& kernel, const Device& device, DType dtype);

}  // namespace sluice
