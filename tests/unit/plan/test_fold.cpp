// Folds unrolled plans, and tests that the folded plans give the same runs as the original plans.
#include <catch2/catch.hpp>

#include "execute/arithmetic/replay.hpp"
#include "plan/passes/fold.hpp"
#include "plan/passes/unroll.hpp"
#include "plan/structure.hpp"
#include "support/abc_case.hpp"
#include "support/oracle.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

/// The weights of three layers stay. While a micro-batch is computed, the next input is loaded.
Plan resident(std::int64_t batches) {
  return make_plan(
      test::small_scenario(1000, test::abc,
                           "workload: {batches_per_step: " + std::to_string(batches) +
                               "}\n"
                               "stages: {cut: per_layer}\npolicy: {name: resident, buffers: 2}\n"));
}

// An answer waits for the answer of two micro-batches ago. So a round that repeats has two micro-batches.
TEST_CASE("a plan that is unrolled and folded again takes the same time") {
  const Plan plan = resident(20);
  REQUIRE(plan.iterations == 20);
  const Plan unrolled = without_dropped(unroll(plan, 20));
  const std::uint32_t size = plan.body_end - plan.body_begin;
  for (const std::uint32_t before : {2, 4, 8}) {
    const EqualRounds rounds{unrolled.body_begin + before * size, 2 * size, 5};
    const std::optional<Plan> folded = fold(unrolled, rounds, 5);
    REQUIRE(folded);
    check_structure(*folded);
    CHECK(folded->iterations == 5);
    CHECK(folded->iterations_per_step == folded->iterations);
    CHECK(folded->actions.size() == unrolled.actions.size() - 4 * 2 * size);
    CHECK(replay(*folded).makespan == Approx(replay(plan).makespan).epsilon(1e-12));
    CHECK(test::oracle(*folded).makespan == Approx(test::oracle(plan).makespan).epsilon(1e-12));
    // A run with more rounds needs no other plan.
    const std::optional<Plan> longer = fold(unrolled, rounds, 5 + (1000 - 20) / 2);
    REQUIRE(longer);
    CHECK(replay(*longer).makespan == Approx(replay(resident(1000)).makespan).epsilon(1e-12));
  }
}

TEST_CASE("rounds that differ are not folded") {
  const Plan plan = resident(20);
  const Plan unrolled = without_dropped(unroll(plan, 20));
  const std::uint32_t size = plan.body_end - plan.body_begin;
  const EqualRounds rounds{unrolled.body_begin + 2 * size, 2 * size, 5};
  REQUIRE(fold(unrolled, rounds, 9));
  CHECK(!fold(unrolled, {rounds.begin, 2 * size - 1, 5}, 9));
  // Some waits reach further back than a round of one micro-batch.
  CHECK(!fold(unrolled, {rounds.begin, size, 5}, 18));
  // The last iteration loads no next input.
  CHECK(!fold(unrolled, {unrolled.body_begin + 14 * size, 2 * size, 3}, 3));
  // An action of the fourth round waits for one more action, or it needs other joules.
  Plan differs = unrolled;
  differs.actions[rounds.begin + 6 * size].waits.push_back({0, 0});
  CHECK(!fold(differs, rounds, 9));
  differs = unrolled;
  differs.actions[rounds.begin + 6 * size].joules = 1;
  CHECK(!fold(differs, rounds, 9));
}

}  // namespace
}  // namespace sluice
