// Tests what a placement keeps of a plan that was made for a shown machine.
#include <catch2/catch.hpp>

#include "plan/digest.hpp"
#include "planning/placement/turns/placed_kinds.hpp"
#include "policy/policy.hpp"
#include "support/two_memory_card.hpp"

namespace sluice {
namespace {

Scenario trained() {
  return test::on_card(9000, 9000,
                       "workload: {mode: training, batch: 2, micro_batch: 1, optimizer: sgd}\n"
                       "fates: keep_all\npolicy: {name: streamed, placement: none}\n");
}

TEST_CASE("the transfers of a placed plan have the latencies and set-ups of the real machine",
          "[placement]") {
  const Scenario scenario = trained();
  const PlannedScenario planned = plan_scenario(scenario);
  Plan shown = planned.plan;
  for (Route& route : shown.routes) route.setup_s += 1, route.latency_s += 20;
  const PolicyRequest request = request_of(scenario, planned.cut, scenario.fates);
  PlacedPrices prices(request, {"gpu"});
  const PlacedKinds placed(prices, shown, /*in_turn=*/false);
  std::size_t flows = 0;
  for (const TensorKinds& slow : {TensorKinds(), TensorKinds{{TensorClass::input}}}) {
    const Plan plan = placed.plan(slow);
    for (const Action& action : plan.actions)
      for (const Flow& flow : action.flows) {
        const Path& path =
            scenario.platform.path(plan.pools[flow.from].name, plan.pools[flow.to].name);
        CHECK(plan.routes[flow.route].setup_s == path.setup_s);
        CHECK(plan.routes[flow.route].latency_s == path.latency_s);
        ++flows;
      }
  }
  CHECK(flows > 10);
}

TEST_CASE("plans that lead to the same placed plans have the same digest, and other plans do not",
          "[placement]") {
  const Plan plan = make_plan(trained());
  const std::string digest = digest_to_place(plan);
  Plan same = plan;
  for (Action& action : same.actions)
    if (!action.is_transfer()) action.seconds *= 2;
  for (Pool& pool : same.pools) pool.capacity = pool.limit = 1'000'000;
  for (Route& route : same.routes) route.latency_s += 1;
  CHECK(digest_to_place(same) == digest);
  Plan other = plan;
  other.actions.back().waits.push_back({0, 0});
  CHECK(digest_to_place(other) != digest);
  other = plan;
  other.tensors.front().bytes += 1;
  CHECK(digest_to_place(other) != digest);
  other = plan;
  other.iterations += 1;
  CHECK(digest_to_place(other) != digest);
  other = plan;
  std::swap(other.actions[0], other.actions[1]);
  CHECK(digest_to_place(other) != digest);
}

}  // namespace
}  // namespace sluice
