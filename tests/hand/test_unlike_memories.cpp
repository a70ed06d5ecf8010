// Tests training on devices that take turns and have memories of different sizes. Each device is compared with its own
// memory.
#include "support/training_case.hpp"

namespace sluice {
namespace {

using namespace training_case;

/// Layers A and B compute for 1 and 2 ms. Their weights have 100 and 120 kB, and their outputs 2 and 3 kB.
const std::vector<Row> two = {{1, 100'000, 2000}, {2, 120'000, 3000}};

Plan trained(const std::string& first, const std::string& second, const std::string& keys,
             const std::string& fates = "keep_all") {
  const auto device = [](const std::string& name, const std::string& capacity) {
    return name + ": {rate: {float32: 1GFLOP/s}, memory: {capacity: " + capacity + "}}";
  };
  return make_plan(small_scenario(
      1000, two,
      four + cut + "policy: {name: phased, overlap: false, resident: none" + keys +
          "}\nfates: " + fates + "\n",
      {"platform.devices={" + device("gpu0", first) + ", " + device("gpu1", second) + "}",
       "platform.links.host={joins: [host, gpu0, gpu1], bandwidth: 1GB/s, sharing: private}"}));
}

// Four micro-batches compute for 4 x 9 ms. Device 0 computes layer A, and device 1 computes layer B. In one pass of
// four micro-batches, FA, FB with BB, and BA load weights: 0.1 + 0.12 + 0.1 ms. Each micro-batch loads its input in
// 0.001 ms, and sends A's output and its gradient to the other device, in 2 x 0.002 ms each. At the end, both gradients
// of weights are saved, in 0.22 ms. Each further pass loads the weights of B and, for BA, those of A again: 0.22 ms.
// Its predecessor saves the sums of gradients, and the pass loads them again: 2 x 0.22 ms.
constexpr double one_pass_ms = 36 + 0.32 + 4 * (0.001 + 2 * 0.004) + 0.22;
constexpr double further_pass_ms = 0.22 + 2 * 0.22;

TEST_CASE("with unlike memories, as many micro-batches are in flight as fit into each of them") {
  // With n micro-batches in flight, device 0 needs 202 + n kB: the weights of A and their gradients, the gradient of
  // its output, and n inputs. Device 1 needs 245 + 5 n kB: the weights of B and their gradients, the gradients of both
  // outputs, and for each micro-batch both outputs.
  CHECK(makespan_of(trained("250kB", "250kB", "")) == ms(one_pass_ms + 3 * further_pass_ms));
  CHECK(makespan_of(trained("210kB", "257kB", "")) == ms(one_pass_ms + further_pass_ms));
  for (const char* small : {"206kB", "250kB", "260kB"}) {
    const Plan plan = trained(small, "265kB", "");
    CHECK(makespan_of(plan) == ms(one_pass_ms));
    CHECK(find_fact(plan.facts, "waits_for_memory") == nullptr);
  }
}

TEST_CASE("with unlike memories, a refusal names the device that lacks memory") {
  CHECK_THROWS_WITH(trained("202kB", "300kB", ""),
                    Catch::Contains("203000 B (203 kB) of the 202 kB of gpu0"));
  CHECK_THROWS_WITH(trained("300kB", "249kB", ""),
                    Catch::Contains("250000 B (250 kB) of the 249 kB of gpu1"));
  CHECK_THROWS_WITH(trained("204kB", "300kB", ", in_flight: 4"),
                    Catch::Contains("206000 B (206 kB) of the 204 kB of gpu0") &&
                        Catch::Contains("micro-batches in flight that fits: 2"));
}

TEST_CASE("with unlike memories, optimal is at least as fast as each strategy that fits") {
  // One micro-batch in flight fits into 203 and 250 kB, and four fit into 206 and 265 kB. The devices need not have
  // equally many bytes.
  for (const auto& [first, second] : {std::pair("203kB", "250kB"), std::pair("206kB", "265kB")})
    for (const char* fates : {"keep_all", "offload_all", "recompute_all"})
      CHECK(makespan_of(trained(first, second, "", "optimal")) <=
            makespan_of(trained(first, second, "", fates)) * (1 + 1e-9));
}

}  // namespace
}  // namespace sluice
