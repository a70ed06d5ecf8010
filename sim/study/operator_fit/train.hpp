// Fits each class of operators to its measurements, and estimates how large the error is for configurations that were
// not measured.
#pragma once

#include <string>
#include <vector>

#include "cost/fitted/class_fit.hpp"

namespace sluice {

struct TrainingOptions {
  /// How many times the samples are split into random halves. Each time, a fit to one half predicts the other half. The
  /// errors of these predictions are an estimate for operators that were not measured.
  int splits = 5;
  bool corrections = true;  ///< whether the fit keeps the samples' deviations from the form
};

/// Fits one class. There must be at least one sample, and all samples must have positive seconds. Energy is fitted if
/// all samples have joules. Equal inputs give equal fits.
ClassFit train(const std::string& name, DType dtype, const std::vector<Sample>& samples,
               const std::vector<Sheet>& sheets, const TrainingOptions& options);

}  // namespace sluice
