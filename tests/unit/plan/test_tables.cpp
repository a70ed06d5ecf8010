// Tests the tables that are made from a plan. Executors read these tables instead of the plan.
#include <catch2/catch.hpp>

#include <algorithm>

#include "plan/tables.hpp"
#include "support/campaign.hpp"
#include "support/random_plan.hpp"

namespace sluice {
namespace {

TEST_CASE("the tables of 300 random plans agree with the plans", "[property]") {
  std::int64_t shortened = 0;
  for (unsigned seed = 1; seed <= test::cases_of(300u); ++seed) {
    INFO("seed " << seed);
    Plan plan = test::random_plan(seed, {.shared_links = seed % 2 == 0});
    const PlanTables tables(plan);
    for (const std::int64_t iterations : {plan.iterations, plan.iterations + 5}) {
      // The tables do not depend on the number of iterations.
      plan.iterations = iterations;
      for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
        const Action& action = plan.actions[a];
        REQUIRE(tables.stream(a) == action.stream);
        REQUIRE(tables.ahead(a) == action.ahead);
        REQUIRE(tables.has_flows(a) == !action.flows.empty());
        REQUIRE(std::equal(action.uses.begin(), action.uses.end(), tables.accesses(a).begin(),
                           tables.accesses(a).end(), [](const Access& use, const Placement& place) {
                             return use.placement() == place;
                           }));
        REQUIRE(tables.allocations(a).size() == action.allocates.size());
        for (std::size_t i = 0; i < action.allocates.size(); ++i) {
          const Allocation& made = tables.allocations(a)[i];
          REQUIRE(made.placement == action.allocates[i]);
          REQUIRE(made.bytes == plan.tensors[made.placement.tensor].bytes);
          shortened += made.body_uses >= 0;
          for (std::int64_t instance = -4; instance < iterations + 4; ++instance)
            REQUIRE(tables.uses(made, instance) == tables.uses(made.placement, instance));
        }
      }
    }
  }
  CHECK(shortened > 100);
}

TEST_CASE(
    "the tensors of the body are the tensors that its actions allocate or use, each listed once") {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    INFO("seed " << seed);
    const Plan plan = test::random_plan(seed);
    std::vector<std::uint32_t> expected;
    for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a) {
      for (const Placement& made : plan.actions[a].allocates) expected.push_back(made.tensor);
      for (const Access& use : plan.actions[a].uses) expected.push_back(use.tensor);
    }
    std::sort(expected.begin(), expected.end());
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    std::vector<std::uint32_t> listed = PlanTables(plan).body_tensors();
    std::sort(listed.begin(), listed.end());
    CHECK(listed == expected);
  }
}

}  // namespace
}  // namespace sluice
