// Leaves out the last batch of each step, and compares the plan with the one that the policy makes for one batch less.
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <string>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "plan/passes/fewer_batches.hpp"
#include "support/abc_case.hpp"
#include "support/campaign.hpp"
#include "support/oracle.hpp"
#include "support/random_case.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

/// Returns the plan of two steps with so many batches each. `policy` has the name and the keys of the policy.
Plan planned(const std::string& policy, std::int64_t batches) {
  return make_plan(
      test::small_scenario(1000, test::abc,
                           "workload: {steps: 2, batches_per_step: " + std::to_string(batches) +
                               "}\nstages: {cut: per_layer}\npolicy: {name: " + policy + "}\n"));
}

/// Returns how often each stage computes.
std::map<std::int32_t, std::int64_t> passes_of(const Plan& plan) {
  std::map<std::int32_t, std::int64_t> passes;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a)
    if (!plan.actions[a].is_transfer()) passes[plan.actions[a].stage] += plan.executions_of(a);
  return passes;
}

TEST_CASE("without its last batch, a plan is the one that the policy makes for one batch less") {
  for (const char* policy :
       {"resident", "resident, buffers: 2", "resident, overlap: false", "streamed, in_flight: 6",
        "streamed, in_flight: 6, overlap: false", "phased, in_flight: 3"}) {
    INFO(policy);
    const Plan whole = planned(policy, 6), fewer = planned(policy, 5);
    const Plan left = without_last_batch(whole, 6);
    check(left);
    CHECK(passes_of(left) == passes_of(fewer));
    CHECK(test::oracle(left).makespan == Approx(replay(left).makespan).epsilon(1e-12));
    CHECK(replay(left).makespan < replay(whole).makespan);
    // Under phased, the policy makes other turns for five batches: its plan is 2 % faster.
    const bool other_turns = std::string(policy).starts_with("phased");
    CHECK(replay(left).makespan ==
          Approx(replay(fewer).makespan).epsilon(other_turns ? 0.02 : 1e-12));
  }
}

TEST_CASE("random plans of inference do not take longer without the last batch of each step",
          "[property]") {
  int compared = 0;
  test::Dice dice(15'004);
  for (const char* policy : {"resident", "streamed", "phased"})
    for (std::size_t n = 0; n < test::cases_of(std::size_t{60}); ++n) {
      const test::RandomCase random = test::random_case(dice, policy, /*training=*/false);
      const std::string text = test::random_settings(dice, random);
      if (random.batches < 2) continue;
      INFO(policy << " " << n << ": " << text);
      const std::optional<Plan> plan = test::plan_within(random, text, 4 * random.all_bytes);
      REQUIRE(plan);
      try {
        const Plan fewer = without_last_batch(*plan, random.batches);
        check(fewer);
        for (const auto& [stage, passes] : passes_of(*plan)) {
          INFO("stage " << stage);
          CHECK(passes_of(fewer).at(stage) * random.batches == passes * (random.batches - 1));
        }
        CHECK(replay(fewer).makespan <= replay(*plan).makespan * (1 + 1e-9));
        ++compared;
      } catch (const InputError&) {  // some plans for two devices compute in the epilogue
        CHECK(std::string(policy) == "phased");
      }
    }
  CHECK(compared > 80);
}

}  // namespace
}  // namespace sluice
