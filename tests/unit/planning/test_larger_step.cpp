// Tests steps whose loads are placed like the loads of a larger step, which has more micro-batches per batch.
#include <catch2/catch.hpp>

#include "plan/tables.hpp"
#include "planning/run_seconds.hpp"
#include "planning/training/larger_step.hpp"
#include "scenario/scenario.hpp"
#include "support/campaign.hpp"
#include "support/random_case.hpp"
#include "support/random_limits.hpp"

namespace sluice {
namespace {

using test::Dice;
using test::RandomCase;

TEST_CASE(
    "with the places of a larger step's loads, a step takes at most as long as the larger step",
    "[property]") {
  int compared = 0, faster = 0, refused = 0;
  Dice dice(515);
  for (const std::string policy : {"streamed", "phased"})
    for (int c = 0; c < test::cases_of(25); ++c) {
      RandomCase made = test::random_case(dice, policy, /*training=*/true);
      made.cut = dice.one_in(3) ? "stages: {cut: whole}\n" : "stages: {cut: per_layer}\n";
      const Scenario scenario =
          test::small_scenario(made.input, made.rows, made.text(), made.machine);
      const CutModel cut = cut_models(scenario).front();
      const std::vector<std::string> fates = {"keep_all", "offload_all", "sqrt", "recompute_all"};
      PolicyRequest request = request_of(
          scenario, cut, plain_fates(fate_catalog().find(fates[dice.below(fates.size())])));
      request.capacity_enforced = false;
      const std::int64_t per_batch = request.workload.batch / request.workload.micro_batch;
      TrainingOrder order{.policy = "tested", .weights_stay = false};
      order.in_flight =
          std::min<std::int64_t>(1 + static_cast<std::int64_t>(dice.below(4)), per_batch);
      for (const Device& device : scenario.platform.devices)
        if (order.devices.empty() || policy == "phased") order.devices.push_back(device.name);
      const auto additional = 1 + static_cast<std::int64_t>(dice.below(3));
      const auto order_of_more = LargerStep::larger_order(request, order, additional);
      // A pass has room for further micro-batches if it is the only pass, or if it is the last and is not full.
      const std::int64_t in_last_pass = per_batch % *order.in_flight;
      const bool adds_a_pass = *order.in_flight < per_batch &&
                               (in_last_pass == 0 || in_last_pass + additional > *order.in_flight);
      REQUIRE(order_of_more.has_value() == !adds_a_pass);
      refused += adds_a_pass;
      if (!order_of_more) continue;
      const LargerStep larger(request, *order_of_more, additional);
      PolicyRequest more = request;
      more.workload.batch += additional * more.workload.micro_batch;
      const ChosenStep step(request, order), larger_step(more, *order_of_more);
      for (int w = 0; w < 6; ++w) {
        const ChosenStep::EarlyLoadLimits limits =
            test::random_limits(dice, larger.peaks().greatest());
        INFO(policy << " case " << c << "\n" << made.text());
        const ChosenStep::Offer offer = larger.offer(limits);
        REQUIRE(offer.places.size() == step.offer(limits).places.size());
        const Plan plan = finish(step.listed(limits, &offer.places), request);
        const Plan plan_of_more = finish(larger_step.listed(limits), more);
        if (!PlanTables(plan_of_more).contention_free()) continue;
        const double seconds = run_seconds(plan), seconds_of_more = run_seconds(plan_of_more);
        CHECK(seconds <= seconds_of_more * (1 + 1e-12));
        CHECK(seconds > 0);
        ++compared;
        faster += seconds < run_seconds(finish(step.listed(limits), request)) * (1 - 1e-9);
      }
    }
  CHECK(compared > 100);
  CHECK(faster > 0);
  CHECK(refused > 5);
}

}  // namespace
}  // namespace sluice
