#include <catch2/catch.hpp>
#include <limits>
#include <map>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "run/isolated.hpp"
#include "scenario/scenario.hpp"
#include "support/campaign.hpp"
#include "support/random_chain.hpp"
#include "support/source_folder.hpp"
#include "support/two_products.hpp"

namespace sluice {
namespace {

using Catch::Matchers::Contains;

/// Returns a scenario with two products in float32, on a card with a second memory. The weights are 10 by 20 and 20 by
/// 5 matrices of 800 and 400 bytes. The input has 40 bytes, the tensor between the products has 80 bytes, and the
/// output has 20 bytes. The FLOP take nearly no time. The link to host memory has 10 byte/s. The link to the second
/// memory has 100 byte/s.
Scenario on_card(const std::string& more, const std::string& first = "1000B",
                 const std::string& second = "2000B") {
  return read_scenario(parse_text(test::two_products_model + R"(platform:
  format: sluice-platform/1
  name: card
  devices:
    gpu:
      rate: {float32: 1000TFLOP/s}
      memory:
      - {capacity: )" + first + R"(, bandwidth: 1TB/s}
      - {name: ddr, capacity: )" + second +
                                      R"(, bandwidth: 1GB/s}
  memories: {host: {capacity: 1MB}}
  links:
    host: {joins: [host, gpu], bandwidth: 10B/s}
    far: {joins: [gpu, gpu_ddr], bandwidth: 100B/s}
stages: {cut: per_layer}
)" + more,
                                  "card.yaml"),
                       "card");
}

double seconds_of(const Scenario& scenario) {
  const Plan plan = make_plan(scenario);
  check(plan);
  const double replayed = replay(plan).makespan;
  CHECK(execute_isolated(plan).report.makespan == Approx(replayed).epsilon(1e-9));
  return replayed;
}

const std::string one_by_one =
    "in_flight: 1, prefetch: 0, pieces: whole, resident: none, overlap: false}\n"
    "workload: {batch: 1, steps: 3}\n";

TEST_CASE("weights are loaded into the second memory once, and from there take turns on the device",
          "[placement]") {
  // If the weights come from host memory, each step takes 80 + 40 s for the weights, 4 s for the image and 2 s for the
  // answer.
  CHECK(seconds_of(on_card("policy: {name: streamed, placement: none, " + one_by_one)) ==
        Approx(3 * 126));
  // Now the weights are first loaded into the second memory, in 120 s. From there, they take only 8 + 4 s in each step.
  // The image and the answer still take 6 s.
  const Scenario backed = on_card("policy: {name: streamed, placement: backing, " + one_by_one);
  CHECK(seconds_of(backed) == Approx(120 + 3 * 18));
  const Plan plan = make_plan(backed);
  const auto pool = [&](const std::string& name) {
    for (std::uint32_t p = 0; p < plan.pools.size(); ++p)
      if (plan.pools[p].name == name) return p;
    FAIL("there is no pool " + name);
    return none;
  };
  std::int64_t second = 0, host = 0;
  for (const Tensor& tensor : plan.tensors) {
    if (tensor.home == pool("gpu_ddr")) second += tensor.bytes;
    if (tensor.home == pool("host")) host += tensor.bytes;
  }
  CHECK(second == 1200);
  CHECK(host == 1200 + 40 + 20);
  CHECK(plan.pools[pool("gpu_ddr")].owner == "gpu");
}

TEST_CASE(
    "without the key `placement`, the home of the weights is the memory from which the run is faster",
    "[placement]") {
  CHECK(seconds_of(on_card("policy: {name: streamed, " + one_by_one)) == Approx(120 + 3 * 18));
  CHECK(seconds_of(on_card("policy: {name: streamed, placement: auto, " + one_by_one)) ==
        Approx(120 + 3 * 18));
  // A single step needs each weight only once. If the weights come from host memory, the step takes 126 s. If they go
  // through the second memory, it takes 120 + 18 s.
  const std::string one_step =
      "in_flight: 1, prefetch: 0, pieces: whole, resident: none, overlap: false}\n"
      "workload: {batch: 1}\n";
  CHECK(seconds_of(on_card("policy: {name: streamed, " + one_step)) == Approx(126));
  CHECK(seconds_of(on_card("policy: {name: streamed, placement: backing, " + one_step)) ==
        Approx(138));
}

TEST_CASE("placement backing works with every strategy for fates", "[placement]") {
  const std::string training =
      "workload: {mode: training, batch: 4, micro_batch: 2, steps: 3, optimizer: adam}\n";
  for (const char* policy : {"streamed", "resident"})
    for (const char* fates : {"offload_all", "recompute_all", "optimal", "auto"}) {
      INFO(policy << ", " << fates);
      const auto with = [&](const std::string& placement) {
        return seconds_of(
            on_card("policy: {name: " + std::string(policy) + ", placement: " + placement +
                        "}\nfates: {strategy: " + fates + "}\ncost: {model: roofline}\n" + training,
                    "20kB", "40kB"));
      };
      CHECK(with("auto") <= std::min(with("none"), with("backing")) * (1 + 1e-9));
    }
}

TEST_CASE("an input that is loaded again comes from host memory, like its first load",
          "[placement]") {
  // The weights go to the second memory in 120 s, and from there to the first memory in 8 + 4 s. The image takes 4 s. The
  // tensor between the products is saved to the second memory, and loaded again, in 0.8 s each. For the backward pass
  // of the first product, the image is loaded again in 4 s. From the second memory, which does not hold the image, this
  // load would take 0.4 s.
  const Scenario scenario = on_card(
      "policy: {name: resident, placement: backing, overlap: false}\nfates: offload_all\n"
      "workload: {mode: training, batch: 1, optimizer: sgd}\n",
      "10kB", "10kB");
  CHECK(seconds_of(scenario) == Approx(120 + 8 + 4 + 4 + 0.8 + 0.8 + 4));
  const Plan plan = make_plan(scenario);
  std::vector<std::string> inputs_from;
  for (const Action& action : plan.actions)
    for (const Flow& flow : action.flows)
      if (plan.tensors[flow.tensor].tensor_class == TensorClass::input)
        inputs_from.push_back(plan.pools[flow.from].name);
  CHECK(inputs_from == std::vector<std::string>{"host", "host"});
}

TEST_CASE(
    "a plan with placement backing has a gap of its own, and not that of the machine without it",
    "[placement]") {
  for (const char* policy : {"streamed", "resident"}) {
    const Plan plan = make_plan(
        on_card("policy: {name: " + std::string(policy) +
                    ", placement: backing}\nfates: optimal\n"
                    "workload: {mode: training, batch: 4, micro_batch: 2, optimizer: sgd}\n",
                "10kB", "10kB"));
    CHECK(find_fact(plan.facts, "fates") != nullptr);
    CHECK(find_fact(plan.facts, "micro_batch_bound_s") == nullptr);
    CHECK(find_fact(plan.facts, "pass_bound_s") == nullptr);
    const double bound = find_fact(plan.facts, "run_bound_s")->number()->value,
                 seconds = replay(plan).makespan;
    CHECK(bound > 0);
    CHECK(find_fact(plan.facts, "gap")->number()->value == Approx(1 - bound / seconds));
  }
}

TEST_CASE("each replica has the second memory of its own device", "[placement]") {
  Value document = on_card("policy: {name: resident}\nworkload: {batch: 1}\n").document;
  apply_overrides(document,
                  {"platform.devices.gpu.count=2", "workload.batches_per_step=2",
                   "policy={name: data_parallel, replica: streamed, placement: backing}"});
  const Plan plan = make_plan(read_scenario(document, "two"));
  std::map<std::string, std::int64_t> homes;
  for (const Tensor& tensor : plan.tensors)
    if (tensor.home != none) homes[plan.pools[tensor.home].name] += tensor.bytes;
  CHECK(homes["gpu0_ddr"] == 1200);
  CHECK(homes["gpu1_ddr"] == 1200);
  CHECK(homes["host"] == 1200 + 2 * (40 + 20));
  for (const Action& action : plan.actions)
    for (const Flow& flow : action.flows) {
      const std::string from = plan.pools[flow.from].name, to = plan.pools[flow.to].name;
      if (from.substr(0, 3) == "gpu" && to.substr(0, 3) == "gpu")
        CHECK(from.substr(0, 4) == to.substr(0, 4));
    }
}

TEST_CASE(
    "for replicas on devices with two memories, the homes of the weights are compared by "
    "default",
    "[placement]") {
  const auto seconds_with = [](const std::string& policy, const std::string& workload,
                               const std::string& first) {
    Value document =
        on_card("policy: {name: resident}\ncost: {model: roofline}\n" + workload, first, "20kB")
            .document;
    apply_overrides(document,
                    {"platform.devices.gpu.count=2", "policy={name: data_parallel, " + policy});
    return seconds_of(read_scenario(document, "two"));
  };
  // The two batches of a step run one after the other, and each batch loads the weights again. A load from host memory
  // takes ten times as long as a load from the second memory.
  const std::string turns = "workload: {batch: 1, batches_per_step: 2, steps: 3}\n";
  const std::string streamed = "replica: streamed, prefetch: 0, pieces: whole, resident: none";
  CHECK(seconds_with(streamed + "}", turns, "1000B") ==
        Approx(seconds_with(streamed + ", placement: auto}", turns, "1000B")));
  CHECK(seconds_with(streamed + "}", turns, "1000B") <
        0.7 * seconds_with(streamed + ", placement: none}", turns, "1000B"));
  // In training, replicas sum their gradients before each update. Placements of single tensors do not support this sum,
  // so they must be left out.
  const std::string training =
      "fates: {strategy: keep_all}\nworkload: {mode: training, batch: 4, micro_batch: 2}\n";
  CHECK(seconds_with("replica: resident}", training, "20kB") > 0);
}

// The weights have 1200 bytes. If ddr has 1199 bytes, no plan with placement backing fits, whatever its cut. With the cost
// model `peak`, no other placements are compared.
TEST_CASE(
    "if the second memory has no room for the weights, few plans with placement backing are tried",
    "[placement]") {
  const auto planned = [](const std::string& placement, const std::string& second) {
    return make_plan(on_card(
        "policy: {name: streamed" + placement + "}\nworkload: {batch: 1, steps: 3}\ncost: peak\n",
        "1000B", second));
  };
  const auto simulated = [](const Plan& plan) {
    return find_fact(plan.facts, "simulated")->number()->value;
  };
  CHECK_THAT(find_fact(planned("", "1200B").facts, "chosen")->shown(),
             Contains("placement: backing"));
  const Plan chosen = planned("", "1199B");
  CHECK_THAT(find_fact(chosen.facts, "chosen")->shown(), Contains("placement: none"));
  CHECK(simulated(chosen) <= simulated(planned(", placement: none", "1199B")) + 3);
}

TEST_CASE("a second memory that cannot be the home of the weights is refused", "[placement]") {
  const auto says = [](const Scenario& scenario, const std::string& words) {
    CHECK_THROWS_WITH(make_plan(scenario), Contains(words));
  };
  const std::string streamed = "policy: {name: streamed, placement: backing}\n";
  says(on_card("policy: {name: resident, placement: backing}\n"),
       "in inference this policy moves only inputs and answers: use policy streamed");
  // The second memory has only 1100 bytes, but the weights have 1200 bytes.
  says(
      on_card(streamed, "1000B", "1100B"),
      "take turns have their home in 'gpu_ddr': they need 1.2 kB, and it has 1.1 kB; use placement");
  // If the key `placement` is left out, the weights stay in host memory.
  CHECK(seconds_of(on_card("policy: {name: streamed, " + one_by_one, "1000B", "1100B")) ==
        Approx(3 * 126));
  CHECK_THROWS_WITH(
      on_card("policy: {name: streamed, placement: all_fast}\n"),
      Contains("'all_fast' for 'placement': expected one of: none, auto, backing, static, "));
}

TEST_CASE(
    "with placement backing, a run is never slower with more bytes in the first or the second memory",
    "[placement][property]") {
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{10}); ++seed) {
    test::Dice dice(seed);
    const std::string steps = std::to_string(1 + dice.below(4));
    const std::string workload = "workload: {batch: " + std::to_string(1 + dice.below(3)) +
                                 ", steps: " + steps +
                                 (dice.one_in(2) ? ", mode: training, optimizer: adam}\n" : "}\n");
    const auto with = [&](std::int64_t first, std::int64_t second, const std::string& placement) {
      try {
        return seconds_of(
            on_card("policy: {name: streamed, placement: " + placement + "}\n" + workload,
                    std::to_string(first) + "B", std::to_string(second) + "B"));
      } catch (const Infeasible&) {
        return std::numeric_limits<double>::infinity();
      }
    };
    double before = std::numeric_limits<double>::infinity();
    std::int64_t first = 900, second = 500;
    for (int n = 0; n < 6; ++n) {
      (dice.one_in(2) ? first : second) += 1 + static_cast<std::int64_t>(dice.below(4000));
      INFO("seed " << seed << ", " << first << " and " << second << " bytes");
      const double seconds = with(first, second, "auto");
      CHECK(seconds <= with(first, second, "none") * (1 + 1e-9));
      CHECK(seconds <= before * (1 + 1e-9));
      before = seconds;
    }
  }
}

TEST_CASE("the inputs of later batches do not take room in the second memory",
          "[placement][training]") {
  // The 1200 bytes of weights have their home in the second memory of 2000 bytes. The inputs of 64 batches have 2560
  // bytes, which stay in host memory. All weights stay on the device, so the plan lists fewer than 64 batches.
  const Scenario scenario = on_card(
      "policy: {name: streamed, placement: backing, resident: all}\nfates: optimal\n"
      "workload: {mode: training, batch: 1, batches_per_step: 64, optimizer: sgd}\n",
      "1MB");
  const Plan plan = make_plan(scenario);
  CHECK(plan.iterations_per_step > 1);
  CHECK(find_fact(plan.facts, "chosen") != nullptr);
  CHECK(find_fact(plan.facts, "waits_for_memory") == nullptr);
}

// Before, the run used all of the first memory. Loads that began earlier slowed down others on the half-duplex link, and
// the run took 55.54 ms with 960 kB and 55.59 ms with 1000 kB.
TEST_CASE("more first memory does not make transfers that share a link slower", "[placement]") {
  double before = std::numeric_limits<double>::infinity();
  for (const std::string bytes : {"770kB", "850kB", "960kB", "1000kB", "2MB"}) {
    const double seconds = seconds_of(load_scenario(
        test::source_folder() + "/tests/campaign/kept/backing_on_a_half_duplex_link.yaml",
        {"platform.devices.gpu.memory.0.capacity=" + bytes}));
    CHECK(seconds <= before * (1 + 1e-9));
    before = seconds;
  }
  CHECK(before <= 0.05554);
}

}  // namespace
}  // namespace sluice
