#include "study/operator_fit/search.hpp"

#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.hpp"

namespace sluice {
namespace {

/// penalty() turns the deviation of a sample from the fit into a penalty. If the deviation is far
/// smaller than `small`, the penalty grows like the square of the deviation. If it is far larger,
/// the penalty grows linearly.
constexpr double small = 0.05;
constexpr int most_steps = 1500;

/// The data of the function that NLopt calls.
struct FitObjective {
  const std::vector<FormParameter>& form;
  std::vector<double> parameters;
  std::vector<std::size_t> searched;  ///< indexes of the parameters that are searched
  const std::function<double(const std::vector<double>&)>& mean;

  double at(const double* logarithms) {
    double away = 0;
    for (std::size_t i = 0; i < searched.size(); ++i) {
      const FormParameter& looked_for = form[searched[i]];
      const double from_start = logarithms[i] - std::log(looked_for.start);
      parameters[searched[i]] = std::exp(logarithms[i]);
      away += looked_for.firmness * from_start * from_start;
    }
    return mean(parameters) + away;
  }
};

double objective_value(unsigned, const double* logarithms, double*, void* objective) {
  return static_cast<FitObjective*>(objective)->at(logarithms);
}

}  // namespace

double penalty(double over) {
  const double scaled = over / small;
  return std::sqrt(1 + scaled * scaled) - 1;
}

FittedParameters fit_parameters(const std::vector<FormParameter>& form,
                                const std::vector<double>& start, FormPart part,
                                const std::function<double(const std::vector<double>&)>& mean) {
  FitObjective objective{form, start, {}, mean};
  std::vector<double> low, high, x;
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i].high <= form[i].low || (form[i].part != FormPart::all && form[i].part != part))
      continue;
    objective.searched.push_back(i);
    low.push_back(std::log(form[i].low));
    high.push_back(std::log(form[i].high));
    x.push_back(std::clamp(std::log(start[i]), low.back(), high.back()));
  }
  const std::unique_ptr<nlopt_opt_s, void (*)(nlopt_opt)> search(
      nlopt_create(NLOPT_LN_SBPLX, static_cast<unsigned>(x.size())), nlopt_destroy);
  nlopt_set_lower_bounds(search.get(), low.data());
  nlopt_set_upper_bounds(search.get(), high.data());
  nlopt_set_initial_step1(search.get(), 0.3);
  nlopt_set_maxeval(search.get(), most_steps);
  nlopt_set_ftol_rel(search.get(), 1e-5);
  nlopt_set_min_objective(search.get(), objective_value, &objective);
  double value = 0;
  if (nlopt_optimize(search.get(), x.data(), &value) < 0)
    throw InternalError("the search for a form's parameters failed");
  value = objective.at(x.data());
  return {objective.parameters, value};
}

}  // namespace sluice
