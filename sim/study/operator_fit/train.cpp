#include "study/operator_fit/train.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <utility>

#include "profile/statistics.hpp"
#include "study/operator_fit/search.hpp"

namespace sluice {
namespace {

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
