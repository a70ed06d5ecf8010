// The fit of a class of operators. The form is the formula of form.hpp. A fit has the parameters of the form, and the
// deviations from the form at the measured configurations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.hpp"
#include "cost/fitted/form.hpp"

namespace sluice {

/// A measured kernel.
struct Sample {
  Kernel kernel;
  /// The operator's configuration. Cross-validation puts samples with equal configurations into the same half.
  std::string configuration;
  std::size_t sheet = 0;  ///< index of the device on which the kernel was measured
  double seconds = 0;
  std::optional<double> joules;
};

/// The time or the energy of a kernel as a function of the kernel's place. A place is a point given by the kernel's
/// sizes. The function has the parameters of a form. For each measured kernel, `left` has the kernel's place, and the
/// logarithm of a quotient: the measured value divided by the form's result.
struct Surface {
  std::vector<double> parameters;
  std::vector<std::pair<Place, double>> left;

  /// Returns the factor by which the form's result is multiplied at a place. The factor comes from the deviations at
  /// the nearest measured places. Far from all measured places, the factor is about 1.
  double correction(const Place& place) const;
};

/// Relative errors of a fit for configurations that the fit has not seen. 0.05 is 5 %.
struct FitError {
  double median = 0, ninety = 0;  ///< `ninety` is the 90th percentile of the errors
  std::int64_t count = 0;
};

struct ClassFit {
  std::string name;
  DType dtype = DType::float32;
  Surface seconds;
  std::optional<Surface> joules;
  std::int64_t samples = 0;
  /// The errors for new configurations on the fitted devices.
  FitError time_error;
  std::optional<FitError> energy_error;
  std::optional<FitError> device_error;  ///< errors for a device that the fit has not seen
  /// The name of each device, with the error of a fit that has not seen this device.
  std::vector<std::pair<std::string, FitError>> device_errors;
  Place least = {}, most = {};  ///< the ends of the measured range

  double seconds_of(const Kernel& kernel, const Sheet& sheet) const;
  double joules_of(const Kernel& kernel, double seconds) const;
  bool covers(const Kernel& kernel) const;
};

}  // namespace sluice
