// The plan of a long batch whose weights take turns lists only a few of its passes. Its run must equal the run in which
// all of them are listed.
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "metrics/metric.hpp"
#include "plan/text.hpp"
#include "planning/run_seconds.hpp"
#include "planning/training/shortest_round.hpp"
#include "support/abc_case.hpp"
#include "support/both_executors.hpp"
#include "support/campaign.hpp"
#include "support/checked_summary.hpp"
#include "support/random_limits.hpp"
#include "support/random_training.hpp"

namespace sluice {
namespace {

using Limits = ChosenStep::EarlyLoadLimits;

/// Returns the plan of the step whose loads are listed within these limits. With `whole`, it lists all passes.
Plan listed(const PolicyRequest& request, const TrainingOrder& order, const Limits& limits,
            bool whole) {
  std::optional<Plan> plan;
  with_step_shape(request, order, [&](const StepShape& all) {
    const StepShape shape = whole ? all : shortest_round(all, request, order);
    Program step = make_step(shape);
    plan = finish(list_training({request, shape, order, limits.room, limits.sequence}, step, {}),
                  request);
    if (limits.run_room)
      for (const std::string& device : order.devices)
        stay_within(*plan, device, limits.run_room->greatest());
  });
  return *plan;
}

/// Compares the metrics of the plan with those of the plan that lists all passes. In the plan with few passes, no loads
/// of a next step run beside the last pass, so its steps in the steady state may be longer by up to two passes. If no
/// load may come more than a pass early, the makespan and the peaks may differ, too. Then the function compares only what
/// the places of loads do not change. Returns whether the makespans and the peaks are equal.
bool compare(const Plan& plan, const Plan& whole, double passes) {
  const Summary of_plan = test::checked_summary(plan), of_whole = test::checked_summary(whole);
  const ReplayResult run = replay(plan), whole_run = replay(whole);
  const double makespan = whole_run.makespan, rounding = 1e-12 * makespan;
  CHECK(run.makespan <= 1.02 * makespan);
  const bool equal = std::abs(run.makespan - makespan) <= rounding && run.peaks == whole_run.peaks;
  const std::set<std::string> always = {"samples",
                                        "compute_s",
                                        "recompute_s",
                                        "flop",
                                        "transfer_s",
                                        "transferred_bytes",
                                        "transferred_bytes_by_class"};
  for (std::size_t i = 0; i < of_whole.metrics.size(); ++i) {
    const std::string& name = of_whole.metrics[i].name;
    INFO(name);
    const SummaryValue &value = of_plan.metrics[i].value, &all = of_whole.metrics[i].value;
    if (name.find("bound") != std::string::npos || (!equal && !always.contains(name))) continue;
    const bool steady =
        name == "step_s" || name.find("steady") == 0 || name == "training_over_inference";
    const double epsilon = steady ? 2 / passes : name == "recompute_overhead" ? 1e-9 : 1e-11;
    if (std::isfinite(all.number))
      CHECK(value.number == Approx(all.number).epsilon(epsilon).margin(rounding));
    REQUIRE(value.keyed.size() == all.keyed.size());
    for (std::size_t k = 0; k < all.keyed.size(); ++k)
      CHECK(value.keyed[k].number == Approx(all.keyed[k].number).epsilon(1e-11).margin(rounding));
  }
  return equal;
}

/// How many of the compared steps had few passes in their plans, and how many of these had equal makespans
/// and peaks.
struct Compared {
  int folded = 0, equal = 0;
};

/// Compares this many random steps with a long batch, with so many or up to three more micro-batches in flight.
Compared few_passes(const std::string& policy, std::uint64_t seed, std::size_t most_devices,
                    std::int64_t in_flight, std::size_t least_micro_batches = 1025,
                    int cases = test::cases_of(12)) {
  test::Dice dice(seed);
  Compared compared;
  for (int round = 0; round < cases; ++round) {
    const std::size_t devices = 1 + dice.below(most_devices);
    const std::string text = test::random_training(dice, policy, devices);
    const test::DrawnTraining drawn(text, dice);
    PolicyRequest request = drawn.request;
    Workload& workload = request.workload;
    TrainingOrder order{policy == "phased" ? "phased" : "streamed", false};
    order.in_flight = in_flight + static_cast<std::int64_t>(dice.below(4));
    const auto micro_batches = static_cast<std::int64_t>(least_micro_batches + dice.below(20));
    workload.batch = micro_batches * workload.micro_batch;
    workload.batches_per_step = workload.steps = 1;
    order.overlap = !dice.one_in(4);
    drawn.add_devices(order, dice);
    INFO(text << request.strategy().name);
    CAPTURE(round, *order.in_flight, micro_batches, order.overlap);
    const ChosenStep step(request, order);
    Limits limits = test::random_limits(dice, step.peaks().greatest());
    limits.room = std::min(limits.room.greatest(), 2 * step.peaks().greatest());
    limits.run_room = std::max(limits.room.greatest(), step.peaks().greatest());
    const Plan plan = listed(request, order, limits, /*whole=*/false);
    if (plan.iterations == 1) continue;
    ++compared.folded;
    const Plan whole = listed(request, order, limits, /*whole=*/true);
    CHECK(plan.actions.size() * 2 < whole.actions.size());
    compared.equal += compare(
        plan, whole, static_cast<double>(micro_batches) / static_cast<double>(*order.in_flight));
    const std::string written = to_text(plan);
    CHECK(to_text(plan_from_text(written, "written")) == written);
  }
  return compared;
}

TEST_CASE("a long batch under streamed runs as if all passes were listed", "[property]") {
  const Compared compared = few_passes("streamed", 11, 1, 1);
  CHECK(compared.folded == test::cases_of(12));
  CHECK(compared.equal >= 7);
}

TEST_CASE("a long batch under phased runs as if all passes were listed", "[property]") {
  const Compared compared = few_passes("phased", 12, 3, 1);
  CHECK(compared.folded == test::cases_of(12));
  CHECK(compared.equal >= 7);
}

TEST_CASE("a long batch of large passes runs as if all passes were listed", "[property]") {
  const Compared compared = few_passes("phased", 13, 3, 64);
  CHECK(compared.folded >= 3);
  CHECK(compared.equal >= 3);
}

TEST_CASE("a long batch of many large passes runs as if all passes were listed", "[property]") {
  const int cases = test::cases_of(4);
  const Compared compared = few_passes("phased", 14, 3, 64, 6'500, cases);
  CHECK(compared.folded == cases);
  CHECK(compared.equal >= cases / 2);
}

}  // namespace
}  // namespace sluice
