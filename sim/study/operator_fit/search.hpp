// The form of a fit is the formula for seconds or joules. The code here searches for the parameters of this formula.
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

/// Finds the best parameters p. mean(p) says how far the samples deviate from the fit with these parameters: it is a
/// mean_penalty(). A second penalty is larger the farther a parameter is from its usual value. The sum of mean(p) and
/// the second penalty is made as small as possible. The search begins at `start`, stays within the parameters' ranges,
/// and changes the logarithms of the parameters. A parameter that has no range, or does not belong to `part`, keeps its
/// start value. Equal arguments give equal results. The method is Rowan's Subplex in NLopt (Johnson), LN_SBPLX.
FittedParameters fit_parameters(const std::vector<FormParameter>& form,
                                const std::vector<double>& start, FormPart part,
                                const std::function<double(const std::vector<double>&)>& mean);

/// Returns the penalty for a sample that deviates from the fit by `over`. The penalty grows like the square of a small
/// deviation, but only linearly for a large deviation. So single outliers have little effect.
double penalty(double over);

/// Returns the mean of the penalties of the samples, where over(sample) is the deviation of a sample. If there are many
/// samples, only every `step`-th sample is used.
template <class Over>
double mean_penalty(const std::vector<Sample>& samples, Over&& over) {
  constexpr std::size_t most = 1200;
  const std::size_t step = (samples.size() + most - 1) / most;
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < samples.size(); i += step, ++count) sum += penalty(over(samples[i]));
  return sum / count;
}

}  // namespace sluice
