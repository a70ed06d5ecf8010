// Fits classes of operators to measurements, and says how large the error is for configurations
// that were not measured.
#pragma once

#include <string>
#include <vector>

#include "cost/fitted/class_fit.hpp"

namespace sluice {

struct TrainingOptions {
  /// The number of random splits; one half is fitted and the other half is predicted.
  int splits = 5;
  bool corrections = true;  ///< keep the deviations from the form
};

/// Fits one class. There must be samples, all with positive seconds. Energy is fitted if all of them have joules. Equal
/// inputs give equal fits.
ClassFit train(const std::string& name, DType dtype, const std::vector<Sample>& samples,
               const std::vector<Sheet>& sheets, const TrainingOptions& options);

/// The relative errors of a fit for these samples.
FitError error_of(const ClassFit& fit, const std::vector<Sample>& samples,
                  const std::vector<Sheet>& sheets);

}  // namespace sluice
