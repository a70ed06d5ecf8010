// The fit of a class of operators. The fit consists of the parameters of the form (the formula of
// form.hpp), and of the deviations from the form at the measured configurations.
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

/// A quantity (time or energy) as a function of a kernel's place, which is a point given by the kernel's sizes. The
/// function has the parameters of a form, and the logarithms of the deviations from this form at the measured places.
struct Surface {
  std::vector<double> parameters;
  std::vector<std::pair<Place, double>> left;

  /// Returns the factor by which the form is multiplied because of the deviations at the nearest measured places. The
  /// factor is about 1 if all measured places are far away.
  double correction(const Place& place) const;
};

/// Relative errors of a fit for configurations that the fit has not seen, as shares (0.05 is 5 %).
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
  /// Errors for configurations that the fit has not seen, on the devices that it has seen.
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
