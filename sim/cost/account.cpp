#include "cost/account.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/quantity.hpp"
#include "base/suggest.hpp"

namespace sluice {
namespace {

std::string percent(double share) {
  return format_quantity(100 * share, Dimension::none) + " %";
}

}  // namespace

Account account_of(const Cost& cost, const Model& model, const Device& device, DType dtype,
                   std::int64_t samples, bool training) {
  Account account;
  std::map<std::string, double> others;
  for (const Layer& layer : model.layers)
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      if (pass == Pass::backward && (!training || !layer.backward.runs)) continue;
      for (const Grounds& part :
           cost.grounds(query_of(model, layer, pass, samples, dtype, device))) {
        account.seconds += part.seconds;
        if (part.measured) account.measured += part.seconds;
        if (part.interpolated) account.interpolated += part.seconds;
        if (part.of.empty() || part.measured || part.interpolated) continue;
        if (!part.fitted) {
          others[part.of] += part.seconds;
          continue;
        }
        account.fitted += part.seconds;
        if (part.inside) account.inside += part.seconds;
        if (std::isnan(part.median)) continue;
        account.known += part.seconds;
        account.median += part.seconds * part.median;
        account.ninety += part.seconds * part.ninety;
      }
    }
  if (!(account.seconds > 0)) return account;
  if (account.known > 0)
    for (double* error : {&account.median, &account.ninety}) *error /= account.known;
  for (double* share :
       {&account.fitted, &account.inside, &account.known, &account.measured, &account.interpolated})
    *share /= account.seconds;
  for (const auto& [of, seconds] : others)
    if (seconds > 0) account.others.emplace_back(of, seconds / account.seconds);
  std::stable_sort(account.others.begin(), account.others.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return account;
}

std::string account_text(const Account& account) {
  if (!(account.seconds > 0)) return "";
  std::string text;
  if (account.interpolated > 0)
    text = percent(account.interpolated) +
           " of the computation's seconds were interpolated between rows of the profile";
  if (account.fitted == 0 && account.others.empty()) return text.empty() ? "" : text + ".";
  if (!text.empty()) text += ". ";
  text += percent(account.fitted) +
          " of the computation's seconds rest on a fit of measured operators, " +
          percent(account.inside) + " on sizes within what was measured on this device";
  if (account.known > 0)
    text += ". For single operators that it had not seen, the fit was off by " +
            percent(account.median) + " in the median, and by at most " + percent(account.ninety) +
            " for nine of ten (means over the classes, weighted by seconds)";
  const double unknown = account.fitted - account.known;
  if (unknown > 1e-9)
    text += ". For " + percent(unknown) +
            " of the seconds the error of the fit is not known, because their sizes are beyond "
            "those that were measured, or too few operators of the class were measured";
  std::vector<std::string> others;
  for (const auto& [of, share] : account.others) others.push_back(of + " (" + percent(share) + ")");
  if (!others.empty()) text += ". The roofline model prices " + join(others);
  return text + ".";
}

}  // namespace sluice
