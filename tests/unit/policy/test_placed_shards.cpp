// Placements of tensors under policy sharded: each stage stays on one of several devices with two memories.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "document/load.hpp"
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
  // The weights are loaded once, in 120 s. In each step, the input takes 4 s, the tensor between the devices 8 s, and
  // the answer 2 s. The products read and write 920 and 500 bytes, in 9.2 + 5 s or, in the second memory, in 92 + 50 s.
  CHECK(seconds(920, "none") == Approx(120 + 3 * (14 + 9.2 + 5)).epsilon(1e-9));
  CHECK(seconds(100, "all_slow") == Approx(120 + 3 * (14 + 92 + 50)).epsilon(1e-9));
  // The first device needs 920 bytes. With one byte less, its input is in the second memory.
  CHECK(seconds(919, "static") == Approx(120 + 3 * (14 + 12.8 + 5)).epsilon(1e-9));
  // The second device needs 500 bytes. So with 500 bytes, only the weights of the first device are in the second
  // memory.
  CHECK(seconds(500, "static") == Approx(120 + 3 * (14 + 81.2 + 5)).epsilon(1e-9));
  CHECK(seconds(500, "auto") == seconds(500, "static"));
  // With 860 bytes, the tensor between the devices does not fit beside the weights and the input of the first device.
  // So it is in the second memory there, and the first product takes 8 s for its bytes instead of 0.8 s. On the second
  // device, it is in the first memory.
  CHECK(seconds(860, "static") == Approx(120 + 3 * (14 + 9.2 + 7.2 + 5)).epsilon(1e-9));
  CHECK_THROWS_AS(check(make_plan(on_cards(919, 2000, shards("none")))), Infeasible);
}

TEST_CASE(
    "under sharded, a tensor between two devices stays in the first memories if their second "
    "memory is the same",
    "[placement]") {
  // The first product reads 840 bytes from the second memory in 84 s, and writes 80 bytes into the first memory in 0.8
  // s. The second product reads them in 0.8 s, and takes 42 s for its weights and the answer.
  CHECK(seconds_of(on_cards(100, 2000, shards("all_slow"), test::Seconds::common)) ==
        Approx(120 + 3 * (14 + 84.8 + 42.8)).epsilon(1e-9));
}

/// Four products on two cards, with two products on each card. Each product has weights of 400 bytes, and an input and
/// an output of 40 bytes. The first memory has room for the weights of one product.
Scenario four_products(const std::string& placement, const std::string& more) {
  Value document = on_cards(500, 2000,
                            "policy: {name: sharded, placement: " + placement + more +
                                "}\nworkload: {batch: 1, steps: 3}\n")
                       .document;
  std::string layers = "[{type: input, name: x, shape: [10]}";
  for (const char* name : {"a", "b", "c", "d"})
    layers += std::string(", {type: dense, name: ") + name + ", features: 10, bias: false}";
  apply_overrides(document, {"model.definition.layers=" + layers + "]"});
  return read_scenario(document, "cards");
}

TEST_CASE("under sharded, weights may be copied to the first memory for each computation",
          "[placement]") {
  const auto seconds = [](const std::string& placement) {
    return seconds_of(four_products(placement, ", overlap: false"));
  };
  // The weights are loaded once, in 160 s. In each step, the input, the tensor between the cards and the answer take 4
  // s each. A product takes 4.8 s or, with its weights in the second memory, 40.8 s. A move takes 4 s.
  CHECK(seconds("static") == Approx(160 + 3 * (12 + 2 * 4.8 + 2 * 40.8)).epsilon(1e-9));
  CHECK(seconds("synchronous") == Approx(160 + 3 * (12 + 4 * (4 + 4.8))).epsilon(1e-9));
  const Plan plan = make_plan(four_products("synchronous", ", overlap: false"));
  for (const char* card : {"to gpu0", "to gpu1"})
    CHECK(find_fact(plan.facts, "moved_bytes", card)->number()->value == 800);
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
  CHECK_THROWS_WITH(
      make_plan(on_cards(1000, 2000, shards("backing"))),
      Contains("'backing' for 'placement': under policy sharded, each device keeps the "
               "weights of its stages. So no tensors take turns") &&
          Contains("use placement static or auto, or policy phased"));
}

}  // namespace
}  // namespace sluice
