// These checks compare a scenario with a changed one, which has more memory, a faster link or an explicit choice.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "campaign/invariants.hpp"
#include "fates/strategy.hpp"
#include "plan/text.hpp"
#include "run/executor.hpp"
#include "run/run.hpp"

namespace sluice::test {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

double seconds_of(const std::string& text, const std::vector<std::string>& overrides) {
  try {
    const Plan plan = make_plan(scenario_of(text, overrides));
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

/// Returns whether all choices are given. Fates and cuts that are open, or that depend on the machine's size, are not
/// given.
bool says_all(const Executed& run) {
  return run.scenario.cut.has_value() && run.scenario.fates.has_value();
}

std::string text_of(const Executed& run) {
  return run.scenario.text();
}

void plan_of_resolved(const Executed& run, Complaints& complaints) {
  complaints.require(to_text(make_plan(scenario_of(text_of(run)))) == to_text(run.plan()),
                     "the resolved scenario makes the same plan");
}

/// scenarios/FORMAT.md: a chosen plan takes the same time on every larger memory. A plan with all choices given
/// runs at the full capacity, where it may wait for memory; it must not be refused.
void more_memory(const Executed& run, Complaints& complaints) {
  const DeviceMemory& memory = run.scenario.platform.devices.front().memory();
  if (!memory.capacity || cuts_by_machine(run)) return;
  const std::string more =
      "platform.devices.gpu.memory.capacity=" + std::to_string(*memory.capacity * 3 / 2) + "B";
  const double seconds = seconds_of(text_of(run), {more});
  complaints.require(seconds < never, "with more memory it fits, too");
  if (says_all(run) || is_replicated(run) || seconds == never) return;
  complaints.at_most(seconds, run.seconds(), "with more memory it is not slower");
}

/// A plan that was chosen by estimates may be slower by a rounding.
void faster_link(const Executed& run, Complaints& complaints) {
  if (cuts_by_machine(run)) return;
  const Value* rate = run.scenario.document.find("platform");
  for (const char* key : {"links", "host", "bandwidth"})
    if (rate) rate = rate->find(key);
  if (!rate) return;
  const double now = parse_quantity(rate->text(), Dimension::bytes_per_s, "bandwidth");
  const double seconds =
      seconds_of(text_of(run), {"platform.links.host.bandwidth=" + exact(1.5 * now) + "B/s"});
  complaints.require(seconds < never, "with a faster link it fits, too");
  if (seconds < never)
    complaints.at_most(seconds, run.seconds(), "with a faster link it is hardly slower",
                       is_replicated(run) ? 0.05 : 0.01);
}

void overlap_off(const Executed& run, Complaints& complaints) {
  if (setting(run, "overlap") || run.scenario.policy->name == "basic") return;
  if (setting(run, "prefetch") || cuts_by_machine(run)) return;
  const double seconds = seconds_of(text_of(run), {"policy.overlap=false"});
  complaints.at_most(run.seconds(), seconds, "overlap is hardly slower than none",
                     is_replicated(run) ? 0.05 : 0.01);
}

/// `optimal` claims that no strategy that treats all stages alike is faster.
void optimal_is_best(const Executed& run, Complaints& complaints) {
  if (!run.scenario.fates || (*run.scenario.fates)->name != "optimal" || cuts_by_machine(run))
    return;
  for (const FateStrategy* strategy : fate_catalog().entries())
    if (strategy->compared)
      complaints.at_most(
          run.seconds(), seconds_of(text_of(run), {"fates={strategy: " + strategy->name + "}"}),
          "optimal is no slower than " + strategy->name, is_replicated(run) ? 0.05 : 1e-9);
}

/// Giving the chosen values explicitly chooses them again, among fewer candidates. If nothing is left open, the plan
/// runs at the full capacity and may wait for memory, so that it may be slower.
void choice_said(const Executed& run, Complaints& complaints) {
  const Scenario& scenario = run.scenario;
  if (is_replicated(run) || scenario.policy->name == "sharded") return;
  std::vector<std::string> said;
  if (!scenario.cut && !run.planned.cut.text.empty())
    said.push_back("stages={" + run.planned.cut.text + "}");
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
    complaints.at_most(run.seconds(), seconds,
                       "what was chosen is no slower than with '" + one + "'");
    if (open > 1)
      complaints.at_most(seconds, run.seconds(),
                         "with '" + one + "', which was chosen, it is no slower");
  }
}

/// If a refusal says how many fit in flight, that number fits, and one more does not.
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
  complaints.require(most < all, "fewer fit in flight than were refused");
  if (most >= 1) complaints.require(!asked(most), "as many fit in flight as the refusal says");
  if (most + 1 < all) complaints.require(asked(most + 1).has_value(), "one more does not fit");
}

}  // namespace

const std::vector<Comparing>& comparing_checks() {
  static const std::vector<Comparing> all = {
      {"more memory", more_memory},
      {"a faster link", faster_link},
      {"no overlap", overlap_off},
      {"optimal is best", optimal_is_best},
      {"a choice that is said", choice_said},
      {"most in flight", most_in_flight},
      {"the plan of the resolved scenario", plan_of_resolved},
  };
  return all;
}

}  // namespace sluice::test
