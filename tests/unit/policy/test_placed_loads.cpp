// Tests for runs with tensors in two memories whose kernels are equally fast in both. Then only the loads count.
#include <catch2/catch.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "planning/placement/turns/placement_facts.hpp"
#include "scenario/scenario.hpp"
#include "study/placement/curve.hpp"
#include "support/campaign.hpp"
#include "support/random_chain.hpp"

namespace sluice {
namespace {

using Catch::Matchers::Contains;

/// Returns a scenario with one product in float32, whose weights have 1000 elements: 4000 bytes. The input has 400
/// bytes and the answer 40 bytes. The product has 2000 FLOP, which take 200 s. Its 4440 bytes take 4.44 s in HBM and
/// 44.4 s in DDR, so the FLOP hide them. Host memory is behind a link of 10 byte/s, and DDR is behind HBM, over a link
/// of 2 byte/s.
Scenario hidden_bytes(const std::string& placement, const std::string& ddr = "1MB",
                      const std::string& hbm = "1MB") {
  return read_scenario(parse_text(R"(format: sluice-scenario/1
model:
  definition:
    format: sluice-model/1
    name: product
    layers:
    - {type: input, name: x, shape: [1, 100]}
    - {type: matmul, name: m, features: 10}
platform:
  format: sluice-platform/1
  name: card
  devices:
    gpu:
      rate: {float32: 10FLOP/s}
      memory:
      - {capacity: )" + hbm + R"(, bandwidth: 1kB/s}
      - {name: ddr, capacity: )" + ddr +
                                      R"(, bandwidth: 100B/s}
  memories:
    host: {capacity: 1MB}
  links:
    host: {joins: [host, gpu], bandwidth: 10B/s}
    far: {joins: [gpu, gpu_ddr], bandwidth: 2B/s}
policy: {name: resident, placement: )" +
                                      placement + R"(}
workload: {batch: 1, steps: 1}
)",
                                  "hidden.yaml"),
                       "hidden");
}

double seconds_of(const Scenario& scenario) {
  return replay(make_plan(scenario)).makespan;
}

TEST_CASE("if the FLOP hide the bytes of kernels, tensors are where loads are fastest",
          "[placement]") {
  // All in HBM: the weights and the input are loaded in 440 s, and the answer is saved in 4 s.
  for (const char* placement :
       {"none", "first_touch", "static", "synchronous", "asynchronous", "auto"}) {
    INFO(placement);
    CHECK(seconds_of(hidden_bytes(placement)) == Approx(440 + 200 + 4));
  }
  // In DDR, the loads end over the link of 2 byte/s, and so does the save.
  CHECK(seconds_of(hidden_bytes("all_slow")) == Approx(2200 + 200 + 20));
  // With 4200 bytes, only the weights fit beside the answer. The input is loaded into DDR in 200 s. Both loads share
  // the link to the host: the weights take at least 400 s.
  CHECK(seconds_of(hidden_bytes("static", "1MB", "4200B")) < 2200);
  CHECK(seconds_of(hidden_bytes("static", "1MB", "4200B")) <=
        seconds_of(hidden_bytes("first_touch", "1MB", "4200B")));
}

TEST_CASE("the second memory has to hold only what is placed there", "[placement]") {
  // DDR has room for one byte, but everything fits into HBM.
  for (const char* placement : {"none", "first_touch", "static", "synchronous", "asynchronous"}) {
    INFO(placement);
    CHECK(seconds_of(hidden_bytes(placement, "1B")) == Approx(440 + 200 + 4));
  }
  CHECK_THROWS_WITH(make_plan(hidden_bytes("all_slow", "1B")),
                    Contains("exceeds memory 'gpu_ddr' at kernel 'm' (step 1 of 1)") &&
                        Contains("the largest tensors are weights of m (4 kB), x (400 B)"));
  // The weights fit into neither memory.
  CHECK_THROWS_WITH(make_plan(hidden_bytes("static", "3000B", "3000B")),
                    Contains("a placement that fills 'gpu' first exceeds memory 'gpu_ddr'") &&
                        Contains("weights of m (4 kB)"));
}

TEST_CASE("a run refuses placements in two memories that no link joins", "[placement]") {
  // Nothing could be loaded into DDR. Without the refusal, the run would have the plan of `none`.
  Scenario scenario = hidden_bytes("static");
  std::erase_if(scenario.platform.edges,
                [](const Platform::Edge& edge) { return edge.link != "host"; });
  scenario.platform.lookup = {};
  CHECK_THROWS_WITH(make_plan(scenario), Contains("no link that leads from 'gpu_ddr' to 'gpu'"));
}

/// Returns a chain of random layers on a device with two memories. The device computes so slowly, or so fast, that the
/// FLOP hide the bytes of some kernels, of all, or of none.
Scenario random_run(std::uint64_t seed, const std::string& placement, std::int64_t hbm,
                    std::int64_t ddr) {
  test::Dice dice(seed);
  const auto one_of = [&](std::vector<std::string> words) {
    return words[dice.below(words.size())];
  };
  std::string layers =
      "    - {type: input, name: x, shape: [" + one_of({"32", "64", "128"}) + "]}\n";
  for (std::uint64_t l = 0, count = 2 + dice.below(3); l < count; ++l)
    layers += "    - {type: dense, name: d" + std::to_string(l) +
              ", features: " + one_of({"32", "64", "128"}) + "}\n";
  const bool trains = dice.one_in(2);
  const std::string setup = one_of({"", ", latency: 2us"});
  std::string text =
      "format: sluice-scenario/1\nmodel:\n  definition:\n    format: sluice-model/1\n    name: t\n"
      "    layers:\n" +
      layers;
  text +=
      "platform:\n  format: sluice-platform/1\n  name: card\n  devices:\n    gpu:\n      rate: {float32: " +
      one_of({"0.05", "0.5", "5"}) +
      "GFLOP/s}\n      memory:\n      - {capacity: " + std::to_string(hbm) +
      "B, bandwidth: " + one_of({"1", "2", "5"}) +
      "GB/s}\n      - {name: ddr, capacity: " + std::to_string(ddr) +
      "B, bandwidth: " + one_of({"0.1", "0.3", "0.8"}) + "GB/s}\n";
  text +=
      "  memories: {host: {capacity: 256MB}}\n  links:\n    host: {joins: [host, gpu], bandwidth: " +
      one_of({"0.02", "0.05", "0.2"}) + "GB/s" + setup +
      "}\n    far: {joins: [gpu, gpu_ddr], bandwidth: " + one_of({"0.05", "0.2", "0.6"}) + "GB/s" +
      setup + "}\n";
  text += "policy: {name: resident, placement: " + placement + one_of({"", ", overlap: false"}) +
          "}\nstages: {cut: per_layer}\nworkload: {batch: " + one_of({"1", "4"}) +
          ", steps: " + one_of({"1", "3"}) +
          (trains ? ", mode: training, optimizer: adam, backward: per_layer}\nfates: " +
                        one_of({"keep_all", "recompute_all", "offload_all"})
                  : std::string("}")) +
          "\n";
  return read_scenario(parse_text(text, "random.yaml"), "random");
}

double seconds_or_never(const Scenario& scenario) {
  try {
    const Plan plan = make_plan(scenario);
    check(plan);
    return replay(plan).makespan;
  } catch (const Infeasible&) {
    return std::numeric_limits<double>::infinity();
  }
}

TEST_CASE(
    "a search is never slower than a simpler placement, than less freedom or than less memory",
    "[placement][property]") {
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{3}); ++seed) {
    double before[3] = {};
    std::fill(std::begin(before), std::end(before), std::numeric_limits<double>::infinity());
    for (const std::int64_t hbm : {15'000, 60'000, 400'000}) {
      const std::int64_t ddr = seed % 3 == 0 ? 60'000 : 4'000'000;
      INFO("seed " << seed << ", " << hbm << " bytes of HBM");
      double simplest = std::numeric_limits<double>::infinity();
      for (const char* way : {"none", "first_touch", "all_slow"})
        simplest = std::min(simplest, seconds_or_never(random_run(seed, way, hbm, ddr)));
      std::size_t n = 0;
      for (const char* way : {"static", "synchronous", "asynchronous"}) {
        INFO(way);
        const double seconds = seconds_or_never(random_run(seed, way, hbm, ddr));
        CHECK(seconds <= simplest * (1 + 1e-9));
        CHECK(seconds <= before[n] * (1 + 1e-9));
        simplest = before[n++] = seconds;
      }
    }
  }
}

TEST_CASE("no placement without moves has kernels below the bound of another placement's gap",
          "[placement][property]") {
  int positive = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{20}); ++seed) {
    const Scenario any = random_run(seed, "none", 400'000, 4'000'000);
    // With `needed` bytes, all tensors fit into the first memory if no input or answer is in transfer meanwhile.
    const std::int64_t needed =
        PlacementQuestion(placement_problem(any, two_memories(any.platform, ""))).peak();
    for (const std::int64_t hbm : {needed / 4, needed / 2, needed, needed + 64, 2 * needed}) {
      std::map<std::string, double> kernels, bounds;
      for (const char* way : {"none", "first_touch", "all_slow", "static"}) try {
          const Plan plan = make_plan(random_run(seed, way, hbm, 4'000'000));
          check(plan);
          const Fact* const gap = find_fact(plan.facts, "placement_gap");
          REQUIRE(gap);
          kernels[way] = kernel_seconds(plan);
          bounds[way] = kernels[way] * (1 - gap->number()->value);
          positive += gap->number()->value > 0 ? 1 : 0;
        } catch (const Infeasible&) {  // the placement does not fit
        }
      for (const auto& [bounded, bound] : bounds)
        for (const auto& [other, seconds] : kernels) {
          INFO("seed " << seed << ", " << hbm << " bytes, " << other << " against " << bounded);
          CHECK(bound <= seconds * (1 + 1e-9));
        }
    }
  }
  CHECK(positive > 10);
}

}  // namespace
}  // namespace sluice
