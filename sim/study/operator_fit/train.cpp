#include "study/operator_fit/train.hpp"

#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "cost/fitted/class_fit.hpp"
#include "cost/fitted/form.hpp"
#include "profile/statistics.hpp"

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

/// Returns the penalty for a sample that deviates from the fit by `over`. The penalty grows like the square of a small
/// deviation, but only linearly for a large deviation. So single outliers have little effect.
double penalty(double over) {
  const double scaled = over / small;
  return std::sqrt(1 + scaled * scaled) - 1;
}

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

/// Computes for each device the joules per FLOP: the watts of its data sheet, divided by the upper quartile of the
/// FLOP/s of its measured products. Returns the least of these numbers. If fewer than two devices have measured
/// products, or if the data sheet of such a device lacks the watts, returns 0.
double joules_per_flop(const std::vector<Sample>& samples, const std::vector<Sheet>& sheets) {
  std::vector<std::vector<double>> rates(sheets.size());
  for (const Sample& sample : samples)
    if (sample.kernel.is_product())
      rates[sample.sheet].push_back(sample.kernel.flop / sample.seconds);
  double least = 0;
  std::size_t devices = 0;
  for (std::size_t i = 0; i < sheets.size(); ++i) {
    if (rates[i].empty()) continue;
    if (!(sheets[i].watts > 0)) return 0;
    ++devices;
    const double joules = sheets[i].watts / quantile_of(rates[i], 0.75);
    if (least == 0 || joules < least) least = joules;
  }
  return devices > 1 ? least : 0;
}

double over_time(const Sample& sample, const std::vector<Sheet>& sheets,
                 const std::vector<double>& parameters) {
  return std::log(sample.seconds / seconds_of(sample.kernel, sheets[sample.sheet], parameters));
}

double over_energy(const Sample& sample, const std::vector<double>& parameters) {
  return std::log(*sample.joules / joules_of(sample.kernel, sample.seconds, parameters));
}

std::vector<double> starts_of(const std::vector<FormParameter>& form) {
  std::vector<double> starts;
  for (const FormParameter& parameter : form) starts.push_back(parameter.start);
  return starts;
}

/// Fits the seconds. The search is made from two start points, because it may end in a local optimum. There can be
/// several optima. Other parameters may lead to other tiles of products (form.hpp). They may also change whether the
/// cache has room for those rows of a stream, such as a softmax, on which the units work at the same time.
void fit_seconds(ClassFit& fit, const std::vector<Sample>& samples,
                 const std::vector<Sheet>& sheets) {
  const bool products = samples.front().kernel.is_product();
  std::vector<double> start = starts_of(form_parameters());
  start[energy_parameter] = joules_per_flop(samples, sheets);
  const auto mean = [&](const std::vector<double>& p) {
    return mean_penalty(samples, [&](const Sample& s) { return over_time(s, sheets, p); });
  };
  const FormPart part = products ? FormPart::products : FormPart::streams;
  FittedParameters found = fit_parameters(form_parameters(), start, part, mean);
  if (products)
    for (std::size_t i = first_share; i < start.size(); ++i) start[i] /= 5;
  else
    start[resident_parameter] /= 5;
  FittedParameters other = fit_parameters(form_parameters(), start, part, mean);
  fit.seconds.parameters =
      std::move(other.penalty < found.penalty ? other.parameters : found.parameters);
}

void fit_joules(ClassFit& fit, const std::vector<Sample>& samples) {
  fit.joules.emplace();
  const auto mean = [&](const std::vector<double>& p) {
    return mean_penalty(samples, [&](const Sample& s) { return over_energy(s, p); });
  };
  fit.joules->parameters =
      fit_parameters(energy_parameters(), starts_of(energy_parameters()), FormPart::all, mean)
          .parameters;
}

/// Returns true if all samples have joules. If even one sample lacks them, energy is not fitted at all.
bool have_energy(const std::vector<Sample>& samples) {
  return std::all_of(samples.begin(), samples.end(),
                     [](const Sample& s) { return s.joules && *s.joules > 0; });
}

struct Parts {
  bool corrections = true, energy = false;
};

ClassFit fit_of(const std::vector<Sample>& samples, const std::vector<Sheet>& sheets, Parts parts) {
  ClassFit fit;
  fit_seconds(fit, samples, sheets);
  if (parts.energy) fit_joules(fit, samples);
  fit.least = fit.most = samples.front().kernel.place();
  for (const Sample& sample : samples) {
    const Place place = sample.kernel.place();
    for (std::size_t i = 0; i < place.size(); ++i) {
      fit.least[i] = std::min(fit.least[i], place[i]);
      fit.most[i] = std::max(fit.most[i], place[i]);
    }
    if (!parts.corrections) continue;
    fit.seconds.left.emplace_back(place, over_time(sample, sheets, fit.seconds.parameters));
    if (fit.joules)
      fit.joules->left.emplace_back(place, over_energy(sample, fit.joules->parameters));
  }
  return fit;
}

struct Errors {
  std::vector<double> time, energy;

  void add(const ClassFit& fit, const std::vector<Sample>& samples,
           const std::vector<Sheet>& sheets) {
    for (const Sample& sample : samples) {
      const double seconds = fit.seconds_of(sample.kernel, sheets[sample.sheet]);
      time.push_back(std::abs(seconds / sample.seconds - 1));
      if (fit.joules && sample.joules)
        energy.push_back(std::abs(fit.joules_of(sample.kernel, seconds) / *sample.joules - 1));
    }
  }
};

FitError summary_of(const std::vector<double>& errors) {
  if (errors.empty()) return {};
  return {quantile_of(errors, 0.5), quantile_of(errors, 0.9),
          static_cast<std::int64_t>(errors.size())};
}

/// Returns a random half of the samples' configurations (Sample::configuration). It is the same half for the same
/// configurations and the same number `split`.
std::set<std::string> half_of(const std::vector<Sample>& samples, int split) {
  std::set<std::string> all;
  for (const Sample& sample : samples) all.insert(sample.configuration);
  std::vector<std::string> order(all.begin(), all.end());
  std::mt19937_64 random(static_cast<std::uint64_t>(split) + 1);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>((order.size() + 1) / 2)};
}

/// Divides the samples into two parts: those for which `chosen` is true, and then those for which it is false.
template <class Chosen>
std::pair<std::vector<Sample>, std::vector<Sample>> parted(const std::vector<Sample>& samples,
                                                           Chosen&& chosen) {
  std::pair<std::vector<Sample>, std::vector<Sample>> parts;
  for (const Sample& sample : samples)
    (chosen(sample) ? parts.first : parts.second).push_back(sample);
  return parts;
}

/// Computes for each device the errors of a fit that uses only the samples of the other devices.
void compare_devices(ClassFit& fit, const std::vector<Sample>& samples,
                     const std::vector<Sheet>& sheets, bool corrections) {
  std::vector<double> all;
  for (std::size_t i = 0; i < sheets.size(); ++i) {
    const auto [others, here] = parted(samples, [&](const Sample& s) { return s.sheet != i; });
    if (others.empty() || here.empty()) continue;
    Errors errors;
    errors.add(fit_of(others, sheets, {.corrections = corrections}), here, sheets);
    fit.device_errors.emplace_back(sheets[i].name, summary_of(errors.time));
    all.insert(all.end(), errors.time.begin(), errors.time.end());
  }
  if (!all.empty()) fit.device_error = summary_of(all);
}

}  // namespace

ClassFit train(const std::string& name, DType dtype, const std::vector<Sample>& samples,
               const std::vector<Sheet>& sheets, const TrainingOptions& options) {
  const Parts parts = {.corrections = options.corrections, .energy = have_energy(samples)};
  ClassFit fit = fit_of(samples, sheets, parts);
  fit.name = name;
  fit.dtype = dtype;
  fit.samples = static_cast<std::int64_t>(samples.size());
  Errors errors;
  for (int split = 0; split < options.splits; ++split) {
    const std::set<std::string> known = half_of(samples, split);
    const auto [seen, unseen] =
        parted(samples, [&](const Sample& s) { return known.count(s.configuration) > 0; });
    if (unseen.empty()) break;
    errors.add(fit_of(seen, sheets, parts), unseen, sheets);
  }
  fit.time_error = summary_of(errors.time);
  if (!errors.energy.empty()) fit.energy_error = summary_of(errors.energy);
  if (options.splits > 0 && sheets.size() > 1)
    compare_devices(fit, samples, sheets, options.corrections);
  return fit;
}

}  // namespace sluice
