// Fits classes of operators to measurements, and estimates the error for configurations that were not measured.
#pragma once

#include <string>
#include <vector>

#include "cost/fitted/class_fit.hpp"

namespace sluice {

struct TrainingOptions {
  /// The number of random splits of the samples. In each split, a fit to one half of the samples predicts the other
  /// half.
  int splits = 5;
  bool corrections = true;  ///< whether the fit keeps the samples' deviations from the form
};

/// Fits one class. There must be at least one sample, and all samples must have positive seconds. Energy is fitted if
/// all samples have joules. Equal inputs give equal fits.
ClassFit train(const std::string& name, DType dtype, const std::vector<Sample>& samples,
               const std::vector<Sheet>& sheets, const TrainingOptions& options);

/// Returns the relative errors of a fit for these samples.
FitError error_of(const ClassFit& fit, const std::vector<Sample>& samples,
                  const std::vector<Sheet>& sheets);

}  // namespace sluice
