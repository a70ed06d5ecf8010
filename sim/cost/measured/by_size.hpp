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
  /// Uses the rows of one element type without sparsity that are whole forward passes of leaves. They must have
  /// `seconds` above 0 and sizes that are understood. Of rows with equal sizes, the median counts.
  SharesBySize(const Profile& profile, const Device& device, DType dtype,
               const std::function<std::optional<double>(const ProfileRow&)>& seconds);

  /// Returns nothing if the kernel's class was not measured, or if the kernel's sizes are outside of the measured ones.
  /// Throws InputError if rows of the class differ in how or on what they were measured. The functions below throw it,
  /// too.
  std::optional<double> share(const Kernel& kernel) const;
  /// Returns the errors of each class when one measured row is left out and estimated from the
  /// others. Classes of one or two sizes are missing.
  std::map<std::string, LeftOut> left_out() const;
  /// The same for one class, of which something was measured.
  LeftOut left_out(const std::string& of) const;
  /// The device that the rows of this class name, of which something was measured.
  const std::string& device(const std::string& of) const;

 private:
  struct Class {
    Utilisation shares;
    std::string device;
    std::string unlike;  ///< why its rows may not be used together; empty: they may
  };
  const Class& of_class(const std::string& of) const;

  std::map<std::string, Class> classes_;
};

/// Returns the seconds of a kernel at the device's rates. They are the longer of FLOP and bytes. For a stream, they are
/// the seconds of its bytes.
double ideal_seconds(const Kernel& kernel, const Device& device, DType dtype);

}  // namespace sluice
