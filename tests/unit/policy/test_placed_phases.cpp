// Placements of tensors under policy phased: one device computes a phase, or two devices take turns.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "planning/placement/turns/moved_weights.hpp"
#include "policy/policy.hpp"
#include "scenario/scenario.hpp"
#include "support/both_executors.hpp"
#include "support/two_memory_card.hpp"
#include "support/two_memory_cards.hpp"

namespace sluice {
namespace {

using Catch::Matchers::Contains;
using test::on_card;
using test::on_cards;

double seconds_of(const Scenario& scenario) {
  return test::seconds_in_both_executors(make_plan(scenario));
}

std::string phases(const std::string& placement, const std::string& more, int steps = 3) {
  return "policy: {name: phased, in_flight: 1, placement: " + placement + more +
         "}\nworkload: {batch: 1, steps: " + std::to_string(steps) + "}\n";
}

TEST_CASE("under phased, kernels read and write each tensor in the memory where it is placed",
          "[placement]") {
  const auto one = [](std::int64_t first, const std::string& placement) {
    return seconds_of(on_card(first, 2000, phases(placement, ", overlap: false")));
  };
  const auto two = [](std::int64_t first, const std::string& placement) {
    return seconds_of(on_cards(first, 2000, phases(placement, ", overlap: false")));
  };
  // In each step, the transfers take 80 + 40 s for the weights, 4 s for the input and 2 s for the answer. The products
  // read and write 920 and 500 bytes. These bytes take 9.2 + 5 s in the first memory, and 92 + 50 s in the second. With
  // two devices, the tensor between the products goes to the other device at no cost.
  CHECK(one(920, "none") == Approx(3 * (126 + 9.2 + 5)).epsilon(1e-9));
  CHECK(two(920, "none") == Approx(3 * (126 + 9.2 + 5)).epsilon(1e-9));
  CHECK(one(500, "all_slow") == Approx(3 * (126 + 92 + 50)).epsilon(1e-9));
  CHECK(two(500, "all_slow") == Approx(3 * (126 + 92 + 50)).epsilon(1e-9));
  // The first product needs all of the 920 bytes. With one byte less, the input is in the second memory. Then a read of
  // the input takes 4 s instead of 0.4 s.
  CHECK(one(919, "static") == Approx(3 * (126 + 4 + 8.8 + 5)).epsilon(1e-9));
  CHECK(two(919, "static") == Approx(3 * (126 + 4 + 8.8 + 5)).epsilon(1e-9));
  // The second product needs 500 bytes. So with 500 bytes, only the weights of the first product are in the second
  // memory.
  CHECK(one(500, "static") == Approx(3 * (126 + 80 + 1.2 + 5)).epsilon(1e-9));
  CHECK(two(500, "static") == Approx(3 * (126 + 80 + 1.2 + 5)).epsilon(1e-9));
  // The order of the first uses is: weights and input of the first product, its output, weights of the second product,
  // and answer. With 900 bytes, the output of the first product does not fit beside its weights and its input. So its
  // bytes are in the second memory: each product takes 8 s for them instead of 0.8 s.
  CHECK(one(900, "first_touch") == Approx(3 * (126 + 8.4 + 8 + 8 + 4.2)).epsilon(1e-9));
  CHECK_THROWS_AS(check(make_plan(on_cards(919, 2000, phases("none", ", overlap: false")))),
                  Infeasible);
}

TEST_CASE("under phased, a phase with a placement lasts as long as its kernels or its transfers",
          "[placement]") {
  const auto step = [](std::int64_t first, const std::string& placement) {
    const auto run = [&](int steps) {
      return seconds_of(on_cards(first, 2000, phases(placement, "", steps)));
    };
    return run(6) - run(5);
  };
  // While one device computes the first product, the other loads 400 bytes for the second product, in 40 s. While this
  // device computes the second product, the weights and the input of the next step are loaded, in 84 s.
  CHECK(step(920, "none") == Approx(40 + 84).epsilon(1e-9));
  // In the second memory, the products take 92 and 50 s.
  CHECK(step(100, "all_slow") == Approx(92 + 84).epsilon(1e-9));
  // With the input in the second memory, the first product takes 12.8 s, and its phase 40 s as before.
  CHECK(step(919, "static") == Approx(40 + 84).epsilon(1e-9));
  // With the weights of the first product in the second memory, this product takes 81.2 s.
  CHECK(step(500, "static") == Approx(81.2 + 84).epsilon(1e-9));
}

TEST_CASE("under phased, the second memory can be the home of the weights", "[placement]") {
  // The weights are loaded into the second memory once, in 120 s. From there, they take 8 + 4 s in each step. The input
  // and the answer take 6 s, and the products 14.2 s.
  const std::string backed = phases("backing", ", overlap: false");
  CHECK(seconds_of(on_card(1000, 2000, backed)) == Approx(120 + 3 * (12 + 6 + 14.2)).epsilon(1e-9));
  // The common second memory of two devices is read at 10 byte/s, so the weights take 120 s in each step.
  CHECK(seconds_of(on_cards(1000, 2000, backed, test::Seconds::common)) ==
        Approx(120 + 3 * (120 + 6 + 14.2)).epsilon(1e-9));
  // With a single pass over each weight, host memory is the better home.
  const Plan open = make_plan(on_card(1000, 2000, phases("auto", ", overlap: false", 1)));
  CHECK(find_fact(open.facts, "placements_compared")->shown() == "none, backing, static, all_slow");
  CHECK(replay(open).makespan == Approx(126 + 14.2).epsilon(1e-9));
}

TEST_CASE("under phased, each device copies the weights of its phases to its first memory",
          "[placement]") {
  Scenario scenario = on_cards(1000, 2000, phases("none", ", overlap: false"));
  const PlannedScenario planned = plan_scenario(scenario);
  const PolicyRequest request = request_of(scenario, planned.cut, scenario.fates);
  PlacedPrices prices(request, {"gpu0", "gpu1"}, {.answers_pass = true});
  const PlacedKinds placed(prices, planned.plan, /*in_turn=*/true);
  const MovedWeights moved(prices, placed);
  const TensorKinds slow = {{TensorClass::weight, 0}, {TensorClass::weight, 1}};
  CHECK(moved.movable(slow) == slow);
  // As in the first test, the transfers of a step take 126 s, and the products 14.2 s. In each step, the first card
  // copies 800 bytes in 8 s, and the second card 400 bytes in 4 s.
  const Plan plan = moved.with_moves(placed.plan(slow), slow, slow, CopyMode::synchronous);
  CHECK(test::seconds_in_both_executors(plan) == Approx(3 * (126 + 14.2 + 12)).epsilon(1e-9));
  // Without moves, the products read 1200 bytes at 10 instead of 100 byte/s. So the moves of both weights are worth it.
  CHECK(test::seconds_in_both_executors(placed.plan(slow)) ==
        Approx(3 * (126 + 14.2 + 108)).epsilon(1e-9));
  CHECK(moved.worth_moving(slow) == slow);
}

TEST_CASE("under phased, a placement that is not possible is refused at its key", "[placement]") {
  CHECK_THROWS_WITH(
      make_plan(on_cards(1000, 2000, phases("backing", ""))),
      Contains(
          "'backing' for 'placement': devices 'gpu0' and 'gpu1' take turns, and they have "
          "different second memories, but all weights need a common home: give all devices the "
          "same second memory; expected placement none, static or auto"));
  CHECK_THROWS_WITH(make_plan(on_cards(100, 700, phases("static", ""))),
                    Contains("no plan with placement static fits into the memories 'gpu0' and "
                             "'gpu0_ddr' together, or 'gpu1' and 'gpu1_ddr' together"));
  CHECK_THROWS_WITH(make_plan(on_cards(1000, 700, phases("cached", ""))),
                    Contains("no plan with placement cached fits into the memories"));
}

}  // namespace
}  // namespace sluice
