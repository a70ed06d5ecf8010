// Tests runs that end early because their caller already knows a faster one.
#include <catch2/catch.hpp>

#include "plan/passes/turns.hpp"
#include "plan/tables.hpp"
#include "planning/run_seconds.hpp"
#include "planning/run_seconds_below.hpp"
#include "support/campaign.hpp"
#include "support/random_plan.hpp"

namespace sluice {
namespace {

TEST_CASE("a run below a number of seconds has the seconds of the run, or is known to take more",
          "[property]") {
  int below = 0, above = 0;
  for (unsigned seed = 1; seed <= test::cases_of(400u); ++seed) {
    INFO("seed " << seed);
    const Plan plan = test::random_plan(seed, {.shared_links = true, .riffled = seed % 2 == 0});
    const double seconds = run_seconds(plan);
    CHECK(least_seconds_of(plan) <= seconds);
    for (const double part : {0.5, 0.99, 1.01, 2.0}) {
      const double worth = part * seconds;
      const double found = run_seconds_below(plan, worth);
      if (part > 1) {
        CHECK(found == seconds);
        ++below;
      } else {
        CHECK(found >= worth);
        ++above;
      }
    }
  }
  CHECK(below == above);
  CHECK(below >= 800);
}

// A plan whose transfers take turns has more waits, so the bound of the plan without these waits holds for it.
TEST_CASE("transfers that take turns make no run shorter than the bound of the plan", "[property]") {
  int turns = 0;
  for (unsigned seed = 1; seed <= test::cases_of(400u); ++seed) {
    INFO("seed " << seed);
    const Plan plan = test::random_plan(seed, {.shared_links = true, .riffled = seed % 2 == 0});
    const double least = least_seconds_of(plan);
    Plan in_turn = plan;
    const std::vector<double> listed(plan.actions.size(), 0);
    for (const TurnWait& one : waits_of_turns(plan, PlanTables(plan).link_shared, listed))
      in_turn.actions[one.action].waits.push_back(one.wait);
    CHECK(least <= run_seconds(in_turn));
    for (std::size_t a = 0; a < plan.actions.size(); ++a)
      turns += plan.actions[a].waits.size() < in_turn.actions[a].waits.size() ? 1 : 0;
  }
  CHECK(turns > 400);
}

}  // namespace
}  // namespace sluice
