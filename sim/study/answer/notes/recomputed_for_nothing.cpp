// The note `recomputed_for_nothing` says that the strategy recompute_all costs time here, but does not lower the peak
// of memory.
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "base/quantity.hpp"
#include "execute/arithmetic/replay.hpp"
#include "study/answer/note.hpp"

namespace sluice {
namespace {

/// A peak counts as lower only if it is lower by more than this share.
constexpr double little = 0.01;

/// The outcome of running the scenario with other fates and unlimited memory: the highest peak of a device's memory,
/// and the seconds of the run.
struct Outcome {
  double peak = std::numeric_limits<double>::infinity();
  double seconds = 0;
};
Outcome with_fates(const Scenario& scenario, const char* strategy) {
  Scenario other = scenario;
  other.fates = plain_fates(fate_catalog().find(strategy));
  other.capacity_enforced = false;
  Outcome outcome;
  try {
    const Plan plan = make_plan(other);
    const ReplayResult result = replay(plan);
    if (result.blocking) return outcome;
    outcome = {0, result.makespan};
    for (std::size_t p = 0; p < plan.pools.size(); ++p)
      if (!plan.pools[p].shared())
        outcome.peak = std::max(outcome.peak, static_cast<double>(result.peaks[p]));
  } catch (const Error&) {
    // There is no plan with this strategy, for example because the policy does not support it. So the outcome keeps its
    // infinite peak, and is never better than another outcome.
  }
  return outcome;
}

std::string instead(const Scenario& scenario, const Outcome& kept) {
  std::string text;
  for (const char* strategy : {"selective", "sqrt", "checkpoint"}) {
    const Outcome other = with_fates(scenario, strategy);
    if (!(other.peak < kept.peak * (1 - little))) continue;
    text += std::string(text.empty() ? "" : ", ") + "fates.strategy=" + strategy + " (" +
            format_quantity(other.peak, Dimension::bytes) + ", + " +
            format_quantity(100 * (other.seconds / kept.seconds - 1), Dimension::none) + " % time)";
  }
  return text;
}

std::string text(const AnsweredScenario& answered) {
  const Scenario& scenario = answered.scenario;
  if (!scenario.fates || (*scenario.fates)->name != "recompute_all") return "";
  const Summary::Metric* overhead = answered.summary.find("recompute_overhead");
  if (!overhead || !(overhead->value.number > 0)) return "";
  const Outcome kept = with_fates(scenario, "keep_all"),
                recomputed = with_fates(scenario, "recompute_all");
  if (!std::isfinite(kept.peak) || recomputed.peak < kept.peak * (1 - little)) return "";
  const std::string others = instead(scenario, kept);
  return "'recompute_all' adds " + format_quantity(100 * overhead->value.number, Dimension::none) +
         " % to the computation and does not lower the peak: its backward pass holds all activations at once (" +
         format_quantity(recomputed.peak, Dimension::bytes) + "), as with 'keep_all'." +
         (others.empty() ? "" : " These strategies lower the peak: " + others + ".");
}

}  // namespace

extern const Note recomputed_for_nothing_note = {
    .name = "recomputed_for_nothing",
    .summary =
        "Tells if recompute_all does not lower the peak. Names the strategies that lower the peak.",
    .source =
        "with recompute_all and with keep_all, 'sluice fits' finds the same largest micro-batch on every card",
    .text = text,
};

}  // namespace sluice
