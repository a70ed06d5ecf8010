// more_steps: over many steps another plan takes less a step than the one for the few that are
// asked.
#include <string>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "document/load.hpp"
#include "execute/feasibility.hpp"
#include "run/further_steps.hpp"
#include "study/answer/note.hpp"

namespace sluice {
namespace {

/// So many steps show what pays once the first loads are made, and of so many the answer itself is
/// chosen for that.
constexpr std::int64_t several_steps = 8;
/// Less than this of a step's time is not worth telling.
constexpr double noticeable = 0.01;

double metric(const Summary& summary, const char* name) {
  const Summary::Metric* found = summary.find(name);
  return found ? found->value.number : 0;
}

/// The scenario with the cut that the plan was chosen with, where the scenario leaves it open: the
/// search among all cuts would take as long as planning does, several times.
Scenario with_chosen_cut(const Answered& answered) {
  Scenario scenario = answered.scenario;
  const Fact* chosen = find_fact(answered.plan.facts, "chosen");
  if (scenario.cut || !chosen || !chosen->text()) return scenario;
  const std::string said = *chosen->text() + ",";
  for (const CutModel& cut : cut_models(scenario))
    if (!cut.text.empty() && said.rfind(cut.text + ",", 0) == 0)
      scenario.cut = choose_cut(parse_text("{" + cut.text + "}", "the chosen cut"));
  return scenario;
}

std::string seconds_text(double seconds) {
  return format_quantity(seconds, Dimension::seconds);
}

std::string text(const Answered& answered) {
  const Workload& workload = answered.scenario.workload;
  if (workload.training || workload.steps >= several_steps) return "";
  if (!answered.scenario.policy->candidates || !find_fact(answered.plan.facts, "chosen")) return "";
  const double step = metric(answered.summary, "step_s");
  const double computing =
      metric(answered.summary, "compute_s") / static_cast<double>(workload.steps);
  if (!(computing < step * (1 - noticeable))) return "";
  Scenario longer = with_chosen_cut(answered);
  longer.workload.steps = several_steps;
  std::optional<double> seconds;
  try {
    const Plan plan = make_plan(longer);
    check(plan);
    seconds = further_step_s(plan);
  } catch (const Infeasible&) {  // then there is nothing to tell
  }
  if (!seconds || !(*seconds < step * (1 - noticeable))) return "";
  return "The plan is the fastest that was found for " +
         (workload.steps == 1 ? std::string("the one step")
                              : "the " + std::to_string(workload.steps) + " steps") +
         " asked, first loads included. Over many steps another one takes " +
         seconds_text(*seconds) + " a step or less, not " + seconds_text(step) +
         ": what stays on the device is loaded once. workload.steps=" +
         std::to_string(several_steps) + " chooses for that.";
}

}  // namespace

extern const Note more_steps_note = {
    .name = "more_steps",
    .summary = "Tells what a step takes under the choices for many steps, where few are asked.",
    .source = "VGG-16 streamed on 400 MB: 18.6 ms a step as chosen for one step, 9.4 ms for many",
    .text = text,
};

}  // namespace sluice
