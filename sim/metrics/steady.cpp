#include "metrics/steady.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "plan/tables.hpp"

namespace sluice {
namespace {

/// Returns the seconds for which the busiest stream or link works in one iteration. On average, an iteration cannot
/// take less, because a stream executes one action at a time, and a link has a limited bandwidth.
double busiest_in_an_iteration(const Plan& plan) {
  std::vector<double> streams(plan.streams.size(), 0), links(plan.links.size(), 0);
  double most = 0;
  for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a) {
    const Action& action = plan.actions[a];
    if (plan.executions_of(a) == 0) continue;
    most = std::max(most, streams[action.stream] += seconds_alone(plan, action));
    for (const Flow& flow : action.flows)
      for (const std::uint32_t link : plan.routes[flow.route].links)
        most = std::max(
            most, links[link] += static_cast<double>(flow.bytes) / plan.links[link].bandwidth);
  }
  return most;
}

/// Returns the seconds of a step in the second half of the run. The last steps load no weights for later steps, so they
/// take less time than steps in the steady state. In a run with few steps, the measured time would therefore be too
/// short. But a step takes at least as long as the busiest stream or link works in it. So the result is at least these
/// seconds.
template <class Ends>
std::optional<double> of_second_half(const Plan& plan, const Ends& ends) {
  const std::int64_t per_step = plan.iterations_per_step;
  const std::optional<double> middle = ends.middle_complete(), last = ends.last_complete();
  if (plan.iterations <= per_step || !last || !middle) return {};
  const std::int64_t between = (plan.iterations - 1 - ends.middle()) / per_step;
  const double each = (*last - *middle) / static_cast<double>(between);
  const double busiest = static_cast<double>(per_step) * busiest_in_an_iteration(plan);
  return std::max(each, busiest) / static_cast<double>(plan.steps_per_iteration);
}

}  // namespace

std::optional<double> steady_step_s(const Totals& totals) {
  return totals.further_step() ? totals.further_step() : of_second_half(totals.plan(), totals);
}

StepEnds::StepEnds(const Plan& plan)
    : plan_(plan), middle_(middle_iteration(plan)), last_(plan.iterations - 1) {}

void StepEnds::span(const Span& span) {
  if (span.iteration != middle_ && span.iteration != last_) return;
  if (plan_.section_of(span.action) != Section::body) return;
  const auto reach = [&](std::optional<double>& complete) {
    complete = std::max(complete.value_or(0), span.available);
  };
  if (span.iteration == middle_) reach(middle_complete_);
  if (span.iteration == last_) reach(last_complete_);
}

std::optional<double> steady_step_s(const Plan& plan, const StepEnds& ends) {
  return of_second_half(plan, ends);
}

namespace {

/// Returns the number of samples whose answers become complete in all executions from action `begin` to action `end`.
double samples_of(const Plan& plan, std::uint32_t begin, std::uint32_t end) {
  double samples = 0;
  for (std::uint32_t a = begin; a < end; ++a)
    samples += static_cast<double>(plan.actions[a].samples_done) *
               static_cast<double>(plan.executions_of(a));
  return samples;
}

/// Returns the number of samples whose answers become complete in the iterations of a step.
double samples_of_iterations(const Plan& plan) {
  double samples = 0;
  for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a)
    samples += static_cast<double>(plan.actions[a].samples_done);
  return samples * static_cast<double>(plan.iterations_per_step) /
         static_cast<double>(plan.steps_per_iteration);
}

bool is_one_step(const Plan& plan) {
  return plan.steps_per_iteration == 1 && plan.iterations == plan.iterations_per_step;
}

}  // namespace

bool updates_follow_iterations(const Plan& plan) {
  const auto updates = [&](Section section) {
    return std::any_of(plan.actions.begin() + plan.section_begin(section),
                       plan.actions.begin() + plan.section_end(section),
                       [](const Action& action) { return action.kind == ActionKind::update; });
  };
  return is_one_step(plan) && updates(Section::epilogue) && !updates(Section::body);
}

bool computes_after_iterations(const Plan& plan) {
  return is_one_step(plan) && std::any_of(plan.actions.begin() + plan.body_end, plan.actions.end(),
                                          [](const Action& action) { return action.samples > 0; });
}

double work_of_step(const Plan& plan) {
  const double repeated = samples_of_iterations(plan);
  if (!is_one_step(plan) || repeated == 0) return 1;
  const auto last = static_cast<std::uint32_t>(plan.actions.size());
  const double after = updates_follow_iterations(plan) ? samples_of(plan, plan.body_end, last) : 0;
  return (samples_of_step(plan) - after) / repeated;
}

std::int64_t steps_of(const Plan& plan) {
  const std::int64_t steps = plan.iterations / plan.iterations_per_step * plan.steps_per_iteration;
  const double of_a_step = samples_of_step(plan);
  if (plan.steps_per_iteration == 1 || of_a_step == 0) return steps;
  const auto last = static_cast<std::uint32_t>(plan.actions.size());
  return steps + std::llround(samples_of(plan, plan.body_end, last) / of_a_step);
}

double samples_of_step(const Plan& plan) {
  const auto last = static_cast<std::uint32_t>(plan.actions.size());
  return is_one_step(plan) ? samples_of(plan, 0, last) : samples_of_iterations(plan);
}

}  // namespace sluice
