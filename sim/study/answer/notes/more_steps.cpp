// The note `more_steps` is for questions about inference with few steps. For such a question, another plan is made, as
// if the run had many steps. If this other plan takes less time per step than the plan of the answer, the note gives
// the seconds per step of the other plan.
#include <string>

#include "base/error.hpp"
#include "base/figures.hpp"
#include "execute/feasibility.hpp"
#include "plan/tables.hpp"
#include "run/further_steps.hpp"
#include "study/answer/note.hpp"

namespace sluice {
namespace {

/// The least number of steps that counts as many steps. If the question has at least this number of steps, the plan of
/// the answer was already chosen for many steps, and the note does not apply.
constexpr std::int64_t several_steps = 8;
/// The smallest saving of time that is reported, as a share of the time of a step.
constexpr double noticeable = 0.01;

double metric(const Summary& summary, const char* name) {
  const Summary::Metric* found = summary.find(name);
  return found ? found->value.number : 0;
}

/// Returns the scenario with the cut of the answer's plan. If the cut were left open, the search of a plan for many
/// steps would try all cuts. This would take several times as long as the planning of the answer.
Scenario with_chosen_cut(const AnsweredScenario& answered) {
  Scenario scenario = answered.scenario;
  if (!scenario.cut) scenario.cut = answered.cut;
  return scenario;
}

/// Returns the seconds in which weights are loaded from their homes, if no other transfers use the links. A plan for
/// many steps may make these loads only once, so it saves at most these seconds per step.
double first_loads_s(const Plan& plan) {
  double seconds = 0;
  for (const Action& action : plan.actions)
    for (const Flow& flow : action.flows) {
      const Tensor& tensor = plan.tensors[flow.tensor];
      if (tensor.tensor_class == TensorClass::weight && tensor.home != none)
        seconds += seconds_alone(plan, flow);
    }
  return seconds;
}

std::string text(const AnsweredScenario& answered) {
  const Workload& workload = answered.scenario.workload;
  if (workload.training || workload.steps >= several_steps) return "";
  if (!answered.scenario.policy->candidates || !find_fact(answered.plan.facts, "chosen")) return "";
  const double step = metric(answered.summary, "step_s");
  const double computing =
      metric(answered.summary, "compute_s") / static_cast<double>(workload.steps);
  if (!(computing < step * (1 - noticeable))) return "";
  // The search for a plan with many long steps would take long, and could save too little.
  if (first_loads_s(answered.plan) < step * noticeable) return "";
  Scenario longer = with_chosen_cut(answered);
  longer.workload.steps = several_steps;
  std::optional<double> seconds;
  try {
    const Plan plan = make_plan(longer);
    check(plan);
    seconds = further_step_s(plan);
  } catch (const Infeasible&) {  // No plan for many steps fits, so the note does not apply.
  }
  if (!seconds || !(*seconds < step * (1 - noticeable))) return "";
  return "The plan is the fastest that was found for " +
         (workload.steps == 1 ? std::string("the one step")
                              : "the " + std::to_string(workload.steps) + " steps") +
         " asked for, including the first loads. For many steps, another plan takes at most " +
         format_seconds(*seconds) + " per step instead of " + format_seconds(step) +
         ", because tensors that stay on the device are loaded only once. Use workload.steps=" +
         std::to_string(several_steps) + " to choose a plan for many steps.";
}

}  // namespace

extern const Note more_steps_note = {
    .name = "more_steps",
    .summary =
        "For a question with few steps, tells how long a step takes with a plan that is chosen for many steps.",
    .source =
        "VGG-16, streamed on 400 MB, takes 18.6 ms per step with the choices for one step, and "
        "9.4 ms with the choices for many steps",
    .text = text,
};

}  // namespace sluice
