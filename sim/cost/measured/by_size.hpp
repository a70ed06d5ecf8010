// The shares of a device's rates that measured operators reach, by class and by the sizes of the
// operators.
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
  /// Uses the leaves (rows of operators) that were measured for the whole forward pass with the element type `dtype`
  /// and without sparsity. Rows whose `seconds` are not above 0, or whose sizes cannot be read, are not used. Rows with
  /// equal sizes count once, with their median seconds.
  SharesBySize(const Profile& profile, const Device& device, DType dtype,
               const std::function<std::optional<double>(const ProfileRow&)>& seconds);

  /// Returns the share for a kernel, or nullopt if the kernel's class was not measured, or if the kernel's sizes are
  /// outside of the measured range. This function and the functions below throw InputError if rows of the class were
  /// measured in different ways or on different devices.
  std::optional<double> share(const Kernel& kernel) const;
  /// Returns the errors of each class. To find them, each measured row in turn is estimated from
  /// all other rows. Classes with fewer than three sizes are left out of the result.
  std::map<std::string, LeftOut> left_out() const;
  /// Returns the errors of one class. At least one row of the class must have been measured.
  LeftOut left_out(const std::string& of) const;
  /// Returns the device that the rows of this class name. At least one row of the class must have been measured.
  const std::string& device(const std::string& of) const;

 private:
  struct Class {
    Utilisation shares;
    std::string device;
    /// Why the rows may not be used together; empty if they may be used together.
    std::string unlike;
  };
  const Class& of_class(const std::string& of) const;

  std::map<std::string, Class> classes_;
};

/// Returns the seconds of a kernel at the device's full rates. For a product, the result is the longer of the seconds
/// of its FLOP and the seconds of its bytes. For a stream, the result is the seconds of its bytes.
double ideal_seconds(const Kernel& kernel, const Device& device, DType dtype);

}  // namespace sluice
