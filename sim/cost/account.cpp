#include "cost/account.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/figures.hpp"
#include "base/suggest.hpp"

namespace sluice {
namespace {

/// Sums the seconds of all passes, with one sum for each kind of grounds. Grounds say where the seconds of a price come
/// from (see cost.hpp). At the end, finish() divides each sum by the total seconds. Then each sum is a share.
class Sums {
 public:
  explicit Sums(Account& account) : account_(account) {}

  /// Adds `parts` to the sums. Returns the seconds of all `parts` together.
  double add(const std::vector<Grounds>& parts) {
    double seconds = 0;
    for (const Grounds& part : parts) {
      seconds += part.seconds;
      add(part);
    }
    account_.seconds += seconds;
    return seconds;
  }

  void add_multiple(double seconds) {
    account_.seconds += seconds;
    account_.multiple += seconds;
  }

  void finish() {
    if (!(account_.seconds > 0)) return;
    for (KnownErrors* errors : {&account_.fit_errors, &account_.interpolation_errors})
      if (errors->share > 0)
        for (double* error : {&errors->median, &errors->ninety}) *error /= errors->share;
    for (double* share :
         {&account_.fitted, &account_.inside, &account_.measured, &account_.interpolated,
          &account_.multiple, &account_.fit_errors.share, &account_.interpolation_errors.share})
      *share /= account_.seconds;
    for (const auto& [of, seconds] : others_)
      if (seconds > 0) account_.others.emplace_back(of, seconds / account_.seconds);
    std::stable_sort(account_.others.begin(), account_.others.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    account_.measured_on.assign(measured_on_.begin(), measured_on_.end());
  }

 private:
  void add(const Grounds& part) {
    if (part.on) measured_on_.insert(*part.on);
    if (part.measured) {
      account_.measured += part.seconds;
    } else if (part.interpolated) {
      account_.interpolated += part.seconds;
      add_errors(account_.interpolation_errors, part);
    } else if (part.fitted) {
      account_.fitted += part.seconds;
      if (part.inside) account_.inside += part.seconds;
      add_errors(account_.fit_errors, part);
    } else if (!part.of.empty()) {
      others_[part.of] += part.seconds;
    }
  }

  static void add_errors(KnownErrors& errors, const Grounds& part) {
    if (std::isnan(part.median)) return;
    errors.share += part.seconds;
    errors.median += part.seconds * part.median;
    errors.ninety += part.seconds * part.ninety;
  }

  Account& account_;
  std::map<std::string, double> others_;
  std::set<std::string> measured_on_;
};

std::string errors_text(const KnownErrors& errors, const std::string& of) {
  if (!(errors.share > 0)) return "";
  return ". " + of + " was off by " + percent(errors.median) + " in the median and by at most " +
         percent(errors.ninety) +
         " for nine of ten operators. These are means over the classes of operators, weighted by "
         "seconds";
}

std::string interpolated_text(const Account& account) {
  if (!(account.interpolated > 0)) return "";
  std::string text = percent(account.interpolated) +
                     " of the computation's seconds were interpolated between rows of the profile";
  text += errors_text(account.interpolation_errors,
                      "A single operator whose row was left out of the profile");
  const double unknown = account.interpolated - account.interpolation_errors.share;
  if (unknown > 1e-9)
    text +=
        ". For " + percent(unknown) +
        " of the seconds the error of the interpolation is not known: of the rows behind these seconds, none lies "
        "between other rows, so none can be estimated from them as a test";
  return text + ". ";
}

std::string fitted_text(const Account& account) {
  if (account.fitted == 0 && account.others.empty()) return "";
  std::string text =
      percent(account.fitted) +
      " of the computation's seconds come from a fit of measured operators. For " +
      percent(account.inside) +
      " of all seconds, the sizes are within the range that was measured on this device";
  text += errors_text(account.fit_errors, "A single operator that the fit had not seen");
  const double unknown = account.fitted - account.fit_errors.share;
  if (unknown > 1e-9)
    text +=
        ". For " + percent(unknown) +
        " of the seconds the error of the fit is not known. The reason may be sizes outside of the measured range, too "
        "few measured operators of the class, or too few measured devices: the operators of the class were measured "
        "neither on this device nor on two others";
  std::vector<std::string> others;
  for (const auto& [of, share] : account.others) others.push_back(of + " (" + percent(share) + ")");
  if (!others.empty()) text += ". The roofline model prices " + join(others);
  return text + ". ";
}

std::string multiple_text(const Account& account) {
  if (!(account.multiple > 0)) return "";
  return percent(account.multiple) +
         " of the computation's seconds are backward passes. Their seconds are assumed to be a multiple of the forward "
         "passes' seconds. workload.backward=per_layer prices each backward pass separately. ";
}

}  // namespace

Account account_of(const Cost& cost, const Model& model, const Device& device, DType dtype,
                   std::int64_t samples, const BackwardCounted& backward) {
  Account account;
  Sums sums(account);
  for (const Layer& layer : model.layers) {
    const auto add = [&](Pass pass) {
      return sums.add(cost.grounds(query_of(model, layer, pass, samples, dtype, device)));
    };
    const double forward = add(Pass::forward);
    if (!backward.any || !layer.backward.runs) continue;
    if (backward.multiple)
      sums.add_multiple(*backward.multiple * forward);
    else
      add(Pass::backward);
  }
  sums.finish();
  return account;
}

std::string account_text(const Account& account) {
  if (!(account.seconds > 0)) return "";
  std::string text = interpolated_text(account) + fitted_text(account) + multiple_text(account);
  if (!text.empty()) text.pop_back();
  return text;
}

}  // namespace sluice
