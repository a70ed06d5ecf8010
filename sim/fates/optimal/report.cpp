#include "fates/optimal/report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/quantity.hpp"

namespace sluice {
namespace {

std::string in_seconds(double seconds) {
  return format_quantity(seconds, Dimension::seconds);
}
std::string in_bytes(std::int64_t bytes) {
  return format_quantity(static_cast<double>(bytes), Dimension::bytes);
}

std::string percent(double part) {
  return std::to_string(std::round(part * 10000) / 100).substr(0, 5) + " %";
}

}  // namespace

Fact budget_fact(std::int64_t budget) {
  constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
  return {"budget", budget == unlimited ? "unlimited" : in_bytes(budget)};
}

Fact gap_fact(double seconds, double bound, bool proven) {
  const double gap = seconds > 0 ? std::max(0.0, 1 - bound / seconds) : 0;
  return {"gap", percent(gap) + (proven ? ", proven" : "")};
}

void explain(const Chain& chain, FateChoice& choice) {
  constexpr std::size_t most = 64;
  const std::vector<std::string> fates = fates_text(chain, choice.tape);
  if (fates.size() > most) return;
  choice.explained = true;
  for (std::size_t s = 0; s < fates.size(); ++s) {
    const ChainStage& stage = chain.stages[s];
    choice.facts.emplace_back(
        "stage " + std::to_string(s + 1) + " " + stage.name,
        fates[s] + ": makes " + in_bytes(stage.output.bytes + stage.inner.bytes) +
            "; recomputing takes " + in_seconds(stage.forward_s) + ", saving and loading " +
            in_seconds(stage.output.save_s + stage.output.load_s + stage.inner.save_s +
                       stage.inner.load_s));
  }
}

}  // namespace sluice
