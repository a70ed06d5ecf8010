// Fits classes of operators to what was measured, and says how far off the fit is for
// configurations that it has not seen.
#pragma once

#include <string>
#include <vector>

#include "cost/fitted/class_fit.hpp"

namespace sluice {

struct TrainingOptions {
  int splits = 5;           ///< random halves, of which one is fitted and the other one predicted
  bool corrections = true;  ///< keep what the form leaves over
};

/// A fit of one class. `samples` are not empty and have positive seconds; energy is fitted where
/// all of them have joules. Equal inputs give equal fits.
ClassFit train(const std::string& name, DType dtype, const std::vector<Sample>& samples,
               const std::vector<Sheet>& sheets, const TrainingOptions& options);

/// The relative errors of a fit for samples.
FitError error_of(const ClassFit& fit, const std::vector<Sample>& samples,
                  const std::vector<Sheet>& sheets);

}  // namespace sluice
