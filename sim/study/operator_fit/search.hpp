// Searches for the parameters of the form of a fit, which is the formula for seconds or joules.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "cost/fitted/class_fit.hpp"
#include "cost/fitted/form.hpp"

namespace sluice {

struct FittedParameters {
  std::vector<double> parameters;
  double penalty = 0;
};

/// Finds the parameters p for which mean(p) plus a penalty is least. The penalty keeps each parameter
/// near its usual value. The search begins at `start` and stays within the parameters' ranges. The search uses the
/// logarithms of the parameters. Parameters without a range, and parameters that do not belong to `part`, keep their
/// start values. Equal arguments give equal results. The method is Rowan's Subplex in NLopt (Johnson), LN_SBPLX.
FittedParameters fit_parameters(const std::vector<FormParameter>& form,
                                const std::vector<double>& start, FormPart part,
                                const std::function<double(const std::vector<double>&)>& mean);

/// Returns the penalty of a deviation. The penalty is quadratic for a small deviation, and linear for a large
/// deviation. So single outliers have little effect.
double penalty(double over);

/// Returns the mean penalty of the samples' deviations from a form. If there are many samples, only every k-th sample
/// is used.
template <class Over>
double mean_penalty(const std::vector<Sample>& samples, Over&& over) {
  constexpr std::size_t most = 1200;
  const std::size_t step = (samples.size() + most - 1) / most;
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < samples.size(); i += step, ++count) sum += penalty(over(samples[i]));
  return sum / count;
}

}  // namespace sluice
