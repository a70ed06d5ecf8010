#include "cost/account.hpp"

#include <algorithm>
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
        if (!part.fitted) {
          others[part.of] += part.seconds;
          continue;
        }
        account.fitted += part.seconds;
        account.median += part.seconds * part.median;
        account.ninety += part.seconds * part.ninety;
        if (part.inside) account.inside += part.seconds;
      }
    }
  if (!(account.seconds > 0)) return account;
  if (account.fitted > 0)
    for (double* error : {&account.median, &account.ninety}) *error /= account.fitted;
  for (double* share : {&account.fitted, &account.inside}) *share /= account.seconds;
  for (const auto& [of, seconds] : others)
    if (seconds > 0) account.others.emplace_back(of, seconds / account.seconds);
  std::stable_sort(account.others.begin(), account.others.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return account;
}

std::string account_text(const Account& account) {
  if (!(account.seconds > 0)) return "";
  std::string text = percent(account.fitted) +
                     " of the seconds that layers compute rest on a fit of measured operators, " +
                     percent(account.inside) + " on sizes within what was measured on this device";
  if (account.fitted > 0)
    text += ". A single operator that the fit had not seen was off by " + percent(account.median) +
            " in the median and at most " + percent(account.ninety) +
            " for nine of ten (means over the classes by their seconds)";
  std::vector<std::string> others;
  for (const auto& [of, share] : account.others) others.push_back(of + " (" + percent(share) + ")");
  if (!others.empty()) text += ". The roofline stands in for " + join(others);
  return text + ".";
}

}  // namespace sluice
