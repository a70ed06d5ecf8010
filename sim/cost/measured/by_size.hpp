// The shares of a device's rates that measured operators reach. The shares depend on the class and the sizes of the
// operator.
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
  /// Uses the rows of single operators (leaves) for the whole forward pass, without sparsity. The row's element type
  /// must be `dtype`, or absent. Leaves out a row if its `seconds` are not above 0, or if its sizes cannot be read.
  /// Rows with equal sizes count once, with their median seconds.
  SharesBySize(const Profile& profile, const Device& device, DType dtype,
               const std::function<std::optional<double>(const ProfileRow&)>& seconds);

  /// Returns an estimate of the share of the device's full rates at which a kernel runs (ideal_seconds() divided by the
  /// kernel's real seconds). If the kernel's class was not measured, or its sizes are outside of the measured range,
  /// returns nullopt. This function and the functions below throw InputError if rows of the class were measured in
  /// different ways or on different devices.
  std::optional<double> share(const Kernel& kernel) const;
  /// Returns the errors of estimates, class by class. To find them, each measured row is estimated from all other rows.
  /// Classes with fewer than three sizes are left out.
  std::map<std::string, LeftOut> left_out() const;
  /// Returns the errors of one class. At least one row of the class must have been measured.
  LeftOut left_out(const std::string& of) const;
  /// Returns the name of the device in the rows of this class. At least one row of the class must have been measured.
  const std::string& device(const std::string& of) const;

 private:
  struct Class {
    Utilisation shares;
    std::string device;
    /// Why the rows must not be used together. Empty if they may be used together.
    std::string unlike;
  };
  const Class& of_class(const std::string& of) const;

  std::map<std::string, Class> classes_;
};

/// Returns the seconds of a kernel at the device's full rates. A product takes the longer of two times: the seconds of
/// its FLOP, and the seconds of its bytes. A stream takes the seconds of its bytes.
double ideal_seconds(const Kernel& kernel, const Device& device, DType dtype);

}  // namespace sluice
