// Placements of tensors under policy sharded: each stage stays on one of several devices with two memories.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "scenario/scenario.hpp"
#include "support/both_executors.hpp"
#include "support/two_memory_cards.hpp"

namespace sluice {
namespace {

using Catch::Matchers::Contains;
using test::on_cards;

std::string shards(const std::string& placement) {
  return "policy: {name: sharded, overlap: false, placement: " + placement +
         "}\nworkload: {batch: 1, steps: 3}\n";
}

double seconds_of(const Scenario& scenario) {
  return test::seconds_in_both_executors(make_plan(scenario));
}

TEST_CASE("under sharded, kernels read and write each tensor in the memory where it is placed",
          "[placement]") {
  const auto seconds = [](std::int64_t first, const std::string& placement) {
    return seconds_of(on_cards(first, 2000, shards(placement)));
  };
  // The weights are loaded once, in 120 s. In each step, the input takes 4 s, the tensor between the devices 8 s, and the
  // answer 2 s. The products read and write 920 and 500 bytes, in 9.2 + 5 s or, in the second memory, in 92 + 50 s.
  CHECK(seconds(920, "none") == Approx(120 + 3 * (14 + 9.2 + 5)).epsilon(1e-9));
  CHECK(seconds(100, "all_slow") == Approx(120 + 3 * (14 + 92 + 50)).epsilon(1e-9));
  // The first device needs 920 bytes. With one byte less, its input is in the second memory.
  CHECK(seconds(919, "static") == Approx(120 + 3 * (14 + 12.8 + 5)).epsilon(1e-9));
  // The second device needs 500 bytes. So with 500 bytes, only the weights of the first device are in the second memory.
  CHECK(seconds(500, "static") == Approx(120 + 3 * (14 + 81.2 + 5)).epsilon(1e-9));
  CHECK(seconds(500, "auto") == seconds(500, "static"));
  CHECK_THROWS_AS(check(make_plan(on_cards(919, 2000, shards("none")))), Infeasible);
}

TEST_CASE(
    "under sharded, a tensor between two devices stays in the first memories if their second "
    "memory is the same",
    "[placement]") {
  // The first product reads 840 bytes from the second memory in 84 s, and writes 80 bytes into the first memory in 0.8 s.
  // The second product reads them in 0.8 s, and takes 42 s for its weights and the answer.
  CHECK(seconds_of(on_cards(100, 2000, shards("all_slow"), test::Seconds::common)) ==
        Approx(120 + 3 * (14 + 84.8 + 42.8)).epsilon(1e-9));
}

TEST_CASE("under sharded, the answer says which placements were compared", "[placement]") {
  const Plan plan = make_plan(on_cards(500, 2000, shards("auto")));
  CHECK(find_fact(plan.facts, "placements_compared")->shown() == "none, static, all_slow");
  CHECK(find_fact(plan.facts, "placement")->shown() == "static");
  CHECK(find_fact(plan.facts, "placed_bytes", "gpu0")->number()->value == 120);
  CHECK(find_fact(plan.facts, "placed_bytes", "gpu0_ddr")->number()->value == 800);
  CHECK(find_fact(plan.facts, "placed_bytes", "gpu1")->number()->value == 500);
}

TEST_CASE("under sharded, a placement that is not possible is refused at its key", "[placement]") {
  CHECK_THROWS_WITH(on_cards(1000, 2000, shards("backing")),
                    Contains("'backing' for 'placement': expected one of: none, auto, static, "
                             "first_touch, all_slow"));
}

}  // namespace
}  // namespace sluice
