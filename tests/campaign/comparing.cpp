// Checks that compare a scenario with a changed scenario. For example, the changed scenario has more memory, a faster
// link or an explicit choice.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "base/never.hpp"
#include "base/quantity.hpp"
#include "campaign/invariants.hpp"
#include "fates/strategy.hpp"
#include "plan/tables.hpp"
#include "plan/text.hpp"
#include "run/executor.hpp"
#include "run/run.hpp"
#include "scenario/open_cuts.hpp"

namespace sluice::test {
namespace {

/// Throws InternalError if a candidate of the plan was faster than its lower bound.
void require_bounds(const Plan& plan, const std::vector<std::string>& overrides) {
  for (const Fact& fact : plan.facts)
    if (fact.name == "beaten_bound")
      throw InternalError("a candidate is faster than its lower bound: " + fact.shown() +
                          (overrides.empty() ? "" : "; with " + overrides.front()));
}

double seconds_of(const std::string& text, const std::vector<std::string>& overrides) {
  try {
    const Plan plan = make_plan(scenario_of(text, overrides));
    require_bounds(plan, overrides);
    return run({.plan = plan, .executor = Executor::replay}).summary.number("makespan_s");
  } catch (const Infeasible&) {
    return never;
  }
}

bool cuts_by_machine(const Executed& run) {
  return run.scenario.cut &&
         ((*run.scenario.cut)->name == "by_memory" || (*run.scenario.cut)->name == "by_time" ||
          (*run.scenario.cut)->name == "balanced");
}

bool is_replicated(const Executed& run) {
  return run.scenario.policy->name == "data_parallel";
}

const Value* setting(const Executed& run, const std::string& name) {
  return run.scenario.policy.keys.map().find(name);
}

std::string text_of(const Executed& run) {
  return run.scenario.text();
}

/// Returns the value at a path of keys, such as platform.links.host. If there is none, returns null.
const Value* value_at(const Executed& run, const std::string& path) {
  const Value* value = &run.scenario.document;
  std::istringstream keys(path);
  for (std::string key; value && std::getline(keys, key, '.');)
    value = value->is_map() ? value->find(key) : nullptr;
  return value;
}

/// Returns the path of the mapping that has the keys `devices` and `links`: the platform, or its group `node`.
std::string machine_of(const Executed& run) {
  return value_at(run, "platform.groups.node") ? "platform.groups.node" : "platform";
}

/// Returns the path of keys that leads to the capacity of a device's first memory, such as
/// "platform.devices.gpu.memory.capacity".
std::string capacity_path(const Executed& run) {
  const std::string memory = machine_of(run) + ".devices.gpu.memory";
  if (!run.scenario.platform.devices.front().memory().own) return "platform.memories.dram.capacity";
  return memory +
         (run.scenario.platform.devices.front().memories.size() > 1 ? ".0.capacity" : ".capacity");
}

/// Returns whether the scenario is inference and the policy `streamed` makes its plan.
bool streams(const Executed& run) {
  return run.scenario.acting->name == "streamed" && !run.scenario.workload.training;
}

/// Returns whether tensors may be placed in several memories.
bool may_place(const Executed& run) {
  const Value* const placement = setting(run, "placement");
  if (placement) return placement->text() != "none";
  return run.scenario.platform.devices.front().memories.size() > 1;
}

void plan_of_resolved(const Executed& run, Complaints& complaints) {
  complaints.require(to_text(make_plan(scenario_of(text_of(run)))) == to_text(run.plan()),
                     "the resolved scenario makes the plan of the scenario");
}

/// Checks that the scenario also fits with more memory, and is not slower. scenarios/FORMAT.md promises that a plan
/// that Sluice chose takes the same time on every larger memory. In training, Sluice always chooses when loads start.
/// In inference, a scenario may leave nothing to choose. Then, with more memory, the plan may wait at other times and
/// become slower. Such a scenario only has to fit.
void more_memory(const Executed& run, Complaints& complaints) {
  const DeviceMemory& memory = run.scenario.platform.devices.front().memory();
  if (!memory.capacity || cuts_by_machine(run)) return;
  const std::int64_t bytes = *memory.capacity * 3 / 2 + memory.reserved;
  const std::string more = capacity_path(run) + "=" + std::to_string(bytes) + "B";
  const double seconds = seconds_of(text_of(run), {more});
  complaints.require(seconds < never, "the scenario fits with more memory, too");
  const bool chooses =
      run.scenario.workload.training || find_fact(run.plan().facts, "chosen") != nullptr;
  // The search for placements under `resident` may end before it has found the best placement. So it may find a slower
  // placement with more memory than with less memory.
  const bool searches = may_place(run) && !streams(run);
  if (!chooses || is_replicated(run) || searches || seconds == never) return;
  complaints.at_most(seconds, run.seconds(), "the run is not slower with more memory");
}

/// Checks that a faster link makes the run at most a little slower. Sluice chooses some plans by estimates, which are
/// rounded. So the run may become a little slower.
void faster_link(const Executed& run, Complaints& complaints) {
  if (cuts_by_machine(run)) return;
  const std::string path = machine_of(run) + ".links.host.bandwidth";
  const Value* const rate = value_at(run, path);
  if (!rate) return;
  const double now = parse_quantity(rate->text(), Dimension::bytes_per_s, "bandwidth");
  const double seconds = seconds_of(text_of(run), {path + "=" + exact(1.5 * now) + "B/s"});
  complaints.require(seconds < never, "the scenario fits with a faster link, too");
  if (seconds < never && !may_place(run))
    complaints.at_most(seconds, run.seconds(),
                       "a faster link makes the run at most a little slower",
                       is_replicated(run) ? 0.05 : 0.01);
}

/// Checks that overlap makes the run at most a little slower. A scenario with `transfers: in_turn` is not checked. In
/// its runs, each transfer waits until the data of the transfer before it has arrived. With overlap, this wait may cost
/// a latency that the run without overlap does not lose. With `transfers: auto`, Sluice tries transfers in turn and
/// transfers together, so the claim holds. With `data_parallel`, the run must not be slower at all, because Sluice also
/// simulates the plans without overlap.
void overlap_off(const Executed& run, Complaints& complaints) {
  const Value* const transfers = setting(run, "transfers");
  if (transfers && transfers->text() == "in_turn") return;
  if (setting(run, "overlap") || run.scenario.policy->name == "basic") return;
  if (setting(run, "prefetch") || cuts_by_machine(run)) return;
  const double seconds = seconds_of(text_of(run), {"policy.overlap=false"});
  complaints.at_most(run.seconds(), seconds, "overlap makes the run at most a little slower",
                     is_replicated(run) ? 1e-9 : 0.01);
}

/// `optimal` must be at least as fast as each strategy that Sluice compares if a scenario names no strategy. For more
/// than 8 replicas, this is only certain for a replica that runs alone, so the check has a tolerance.
void optimal_is_best(const Executed& run, Complaints& complaints) {
  if (!run.scenario.fates || (*run.scenario.fates)->name != "optimal" || cuts_by_machine(run))
    return;
  for (const FateStrategy* strategy : fate_catalog().entries())
    if (strategy->compared)
      complaints.at_most(run.seconds(),
                         seconds_of(text_of(run), {"fates={strategy: " + strategy->name + "}"}),
                         "optimal is no slower than " + strategy->name,
                         run.scenario.platform.devices.size() > 8 ? 0.05 : 1e-9);
}

/// Writes one value that Sluice chose into the scenario, and runs the scenario again. If other values are still open,
/// Sluice now has fewer candidates for them, but the run must take as long as before. If no other value is open,
/// Sluice makes only one plan. The actions of this plan may wait for memory, so the run may be slower.
void choice_said(const Executed& run, Complaints& complaints) {
  const Scenario& scenario = run.scenario;
  if (is_replicated(run) || scenario.policy->name == "sharded") return;
  std::vector<std::string> said;
  if (!scenario.cut && run.planned.cut.compared)
    said.push_back("stages={" + text_of(*run.planned.cut.compared) + "}");
  if (!scenario.fates && scenario.workload.training && run.planned.fates)
    said.push_back("fates={strategy: " + (*run.planned.fates)->name + "}");
  const Fact* const in_flight = find_fact(run.plan().facts, "in_flight");
  const bool streams = scenario.policy->name == "streamed";
  if (streams && !setting(run, "in_flight") && in_flight && in_flight->number())
    said.push_back("policy.in_flight=" +
                   std::to_string(static_cast<std::int64_t>(in_flight->number()->value)));
  const int open =
      (scenario.cut ? 0 : 1) + (scenario.fates ? 0 : 1) + (setting(run, "in_flight") ? 0 : 1);
  for (const std::string& one : said) {
    const double seconds = seconds_of(text_of(run), {one});
    complaints.at_most(run.seconds(), seconds, "the choice is not slower than '" + one + "'");
    if (open > 1)
      complaints.at_most(seconds, run.seconds(),
                         "naming the chosen '" + one + "' does not make the run slower");
  }
}

/// Some runs leave the placement open, and compare placements. Checks that such a run is not slower than the same run
/// with any one of the compared placements.
void placement_said(const Executed& run, Complaints& complaints) {
  const Fact* const compared = find_fact(run.plan().facts, "placements_compared");
  if (!compared) return;
  std::istringstream placements(compared->shown());
  for (std::string one; std::getline(placements >> std::ws, one, ',');)
    complaints.at_most(run.seconds(), seconds_of(text_of(run), {"policy.placement=" + one}),
                       "the choice is not slower than 'placement: " + one + "'");
}

/// If a refusal says how many micro-batches may be in flight, this number must fit, and one more micro-batch in flight
/// must not fit.
void most_in_flight(const Executed& run, Complaints& complaints) {
  if (run.scenario.policy->name != "streamed" || setting(run, "in_flight")) return;
  const std::int64_t all = run.scenario.workload.micro_batches_per_step();
  const auto asked = [&](std::int64_t count) -> std::optional<Shortage> {
    try {
      make_plan(scenario_of(text_of(run), {"policy.in_flight=" + std::to_string(count)}));
      return {};
    } catch (const Infeasible& infeasible) {
      return infeasible.shortage;
    }
  };
  const std::optional<Shortage> shortage = asked(all);
  if (!shortage || !shortage->most_in_flight) return;
  const std::int64_t most = *shortage->most_in_flight;
  complaints.require(most < all,
                     "the number of micro-batches in flight that fits is below the refused number");
  if (most >= 1)
    complaints.require(!asked(most), "as many micro-batches fit in flight as the refusal says");
  if (most + 1 < all)
    complaints.require(asked(most + 1).has_value(), "one micro-batch more in flight does not fit");
}

/// Returns the stages of a run as the mapping `stages:` of a scenario. The cut of the run must not split layers.
std::string explicit_cut(const Executed& run) {
  const std::vector<Stage>& stages = run.planned.cut.stages;
  if (stages.size() == 1) return "{cut: whole}";
  std::string after;
  for (std::size_t s = 0; s + 1 < stages.size(); ++s)
    after += (s == 0 ? "" : ", ") + std::to_string(stages[s].last + 1);
  return "{cut: explicit, after: [" + after + "]}";
}

/// Checks that a run does not get faster with one more step, micro-batch or batch. In training, Sluice places one load
/// after the other where memory has room, and does not search all orders of loads. So more work may lead to a better
/// order of loads and a faster run, by up to a few percent. The greatest difference was 6.8 %, for replicas whose loads
/// share a link, with two micro-batches per replica instead of one. In inference, the claim has a tolerance only where
/// the devices of replicas share a link. There, with less work, a load may begin while a more urgent load still uses
/// the link, and may delay the urgent load. If the phases of inference share a link, the claim is not checked: such a
/// delay may be a large part of the run, as in tests/hand/test_more_work.cpp. If the scenario gives `last_turn`, its
/// last turn may have idle phases. With one more batch, the last turn may have no idle phases, or Sluice may refuse the
/// scenario. So the number of batches is not changed. The cut `by_time` estimates the seconds of a step, and the
/// estimate depends on the number of micro-batches. With one more, the cut may be another one with which weights can
/// stay on the device from step to step. So the run is compared with the same stages.
void more_work(const Executed& run, Complaints& complaints) {
  const Workload& workload = run.scenario.workload;
  const std::int64_t sharing = workload.training && is_replicated(run)
                                   ? static_cast<std::int64_t>(run.scenario.platform.devices.size())
                                   : 1;
  if (!workload.training && run.scenario.policy->name == "phased" &&
      !PlanTables(run.plan()).contention_free())
    return;
  const bool estimated = run.scenario.cut && (*run.scenario.cut)->name == "by_time";
  const auto not_faster = [&](const std::string& key, std::int64_t count) {
    std::vector<std::string> changes = {"workload." + key + "=" + std::to_string(count)};
    if (estimated) changes.push_back("stages=" + explicit_cut(run));
    const double seconds = seconds_of(text_of(run), changes);
    complaints.at_most(run.seconds(), seconds, "the run is not slower than with more " + key,
                       workload.training    ? (is_replicated(run) ? 0.1 : 0.01)
                       : is_replicated(run) ? 0.05
                                            : 1e-9);
  };
  not_faster("steps", workload.steps + 1);
  not_faster("batch", workload.batch + sharing * workload.micro_batch);
  if (!setting(run, "last_turn")) not_faster("batches_per_step", workload.batches_per_step + 1);
}

}  // namespace

const std::vector<Comparing>& comparing_checks() {
  static const std::vector<Comparing> all = {
      {"more memory", more_memory},
      {"a faster link", faster_link},
      {"no overlap", overlap_off},
      {"optimal is best", optimal_is_best},
      {"a choice that the scenario names", choice_said},
      {"a placement that the scenario names", placement_said},
      {"most in flight", most_in_flight},
      {"the plan of the resolved scenario", plan_of_resolved},
      {"more work", more_work},
  };
  return all;
}

}  // namespace sluice::test
