// Tests for the sizes of fast memory for which runs with tensors in two memories search placements.
#include <catch2/catch.hpp>

#include <string>

#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "scenario/scenario.hpp"

namespace sluice {
namespace {

/// Returns a scenario with `layers` products, each with weights of 8 by 8 elements in float32, which are 256 bytes. The
/// input, each tensor between two products and the answer have 32 bytes. DRAM is read and written at 100 byte/s, and
/// PMEM, which is also the host memory, at 10 byte/s. The FLOP take nearly no time. The run has so many steps that the
/// loads of weights hardly matter.
Scenario products(std::int64_t layers, std::int64_t dram, const std::string& placement = "static") {
  return read_scenario(
      parse_text(
          "format: sluice-scenario/1\nmodel: {definition: {format: sluice-model/1, name: chain, layers: ["
          "{type: input, name: x, shape: [1, 8]}, {repeat: " +
              std::to_string(layers) + R"(, layers: [{type: matmul, name: m, features: 8}]}]}}
platform:
  format: sluice-platform/1
  name: server
  devices:
    cpu: {rate: {float32: 1000TFLOP/s}, memory: [dram, pmem]}
  memories:
    dram: {capacity: )" +
              std::to_string(dram) +
              R"(B, bandwidth: 100B/s}
    pmem: {capacity: 4MB, bandwidth: 10B/s}
  links:
    copy: {joins: [dram, pmem], bandwidth: 1GB/s}
stages: {cut: per_layer}
policy: {name: resident, placement: )" +
              placement + R"(}
workload: {batch: 1, steps: 2000}
)",
          "chain.yaml"),
      "chain");
}

double gap_of_plan(const Plan& plan) {
  const Fact* const gap = find_fact(plan.facts, "placement_gap");
  REQUIRE(gap != nullptr);
  return gap->number()->value;
}

TEST_CASE("a run of many kernels also uses a fast memory that holds a hundredth of its bytes",
          "[placement]") {
  // In PMEM, a product reads its weights and its input, and writes its output, in 25.6 + 3.2 + 3.2 s. The 1200 products
  // need 307.2 kB for their weights. In DRAM, a tensor between two products saves 2 * 2.88 s for 32 bytes, and weights
  // save 23.04 s for 256 bytes. So with 3 kB of DRAM, all 1199 tensors between products are there, two of them at a
  // time. The other bytes hold weights: at most 0.09 s are saved per byte. At least half of these bytes are used.
  const double in_pmem = 1200 * 32.0, between = 1199 * 5.76, others = 3000 * 0.09;
  const Plan plan = make_plan(products(1200, 3000));
  const double seconds = replay(plan).makespan / 2000;
  CHECK(seconds < in_pmem - between - others / 2);
  CHECK(seconds > in_pmem - between - others);
  CHECK(gap_of_plan(plan) > 0);
  CHECK(gap_of_plan(plan) < others / 2 / seconds);
}

TEST_CASE("the gap of a placement is the distance to a bound for the whole fast memory",
          "[placement]") {
  // Two tensors between products need 64 bytes of DRAM. An input and an answer in transfer need another 64 bytes, which
  // other plans may do without. The other 2872 bytes hold 11 weights, and 56 bytes stay empty. So a bound puts
  // (64 + 56) / 256 of the next weights there. Eleven products take 2.56 + 0.64 s, and the other five 25.6 + 0.64 s.
  const Plan plan = make_plan(products(16, 3000));
  const double seconds = 11 * 3.2 + 5 * 26.24;
  CHECK(replay(plan).makespan / 2000 == Approx(seconds).epsilon(0.002));
  CHECK(gap_of_plan(plan) == Approx(120.0 / 256 * 23.04 / seconds));
}

TEST_CASE("a placement without a search says how far it is from the placements with a search",
          "[placement]") {
  // The bound of the test before this one. In PMEM, each of the 16 products takes 32 s.
  const double bound = 11 * 3.2 + 5 * 26.24 - 120.0 / 256 * 23.04;
  const auto bounded = [](const Plan& plan) {
    return find_fact(plan.facts, "placement_gap_to")->shown();
  };
  const Plan slow = make_plan(products(16, 3000, "all_slow"));
  CHECK(gap_of_plan(slow) == Approx((16 * 32 - bound) / (16 * 32)));
  CHECK(bounded(slow) == "all placements without moves");
  const Plan touched = make_plan(products(16, 3000, "first_touch"));
  CHECK(gap_of_plan(touched) >= gap_of_plan(make_plan(products(16, 3000))));
  CHECK(gap_of_plan(touched) <= 1 - bound / (replay(touched).makespan / 2000));
  // A hardware cache with room for everything misses only the inputs, which are 32 bytes: 3.2 s. The products take 3.2
  // s each. The DRAM has room for everything, so nothing is lost.
  const Plan whole = make_plan(products(16, 10'000, "cached"));
  CHECK(gap_of_plan(whole) == 0);
  const Plan cached = make_plan(products(16, 3000, "cached"));
  CHECK(gap_of_plan(cached) ==
        Approx(1 - 17 * 3.2 / (replay(cached).makespan / 2000)).epsilon(0.002));
  CHECK(bounded(cached) == "a hardware cache with room for everything");
}

TEST_CASE("a run in the first memory alone also has a gap", "[placement]") {
  const Plan first = make_plan(products(16, 10'000, "none"));
  CHECK(gap_of_plan(first) == 0);
  const Plan open = make_plan(products(16, 10'000, "auto"));
  CHECK(gap_of_plan(open) == 0);
}

}  // namespace
}  // namespace sluice
