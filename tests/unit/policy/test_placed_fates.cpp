// Tests placements of tensors in two memories together with the fates of `optimal`, `selective` and other strategies.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "fates/strategy.hpp"
#include "run/isolated.hpp"
#include "scenario/scenario.hpp"
#include "support/two_products.hpp"

namespace sluice {
namespace {

double seconds_of(const Plan& plan) {
  check(plan);
  const double replayed = replay(plan).makespan;
  CHECK(execute_isolated(plan).report.makespan == Approx(replayed).epsilon(1e-9));
  return replayed;
}

std::string text_of(const Plan& plan, const std::string& name) {
  const Fact* const fact = find_fact(plan.facts, name);
  return fact ? fact->shown() : "";
}

Plan plan_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  Value document = parse_text(text, "placed.yaml");
  apply_overrides(document, overrides);
  return make_plan(read_scenario(document, "placed"));
}

/// Two dense layers of one feature with a bias. They run on a card with two memories: HBM with 1 GB/s and DDR with 600
/// MB/s. The link to host memory has 1 GB/s. Each layer has 8 bytes of weights. The input and each output have 4 bytes.
const std::string on_card = R"(format: sluice-scenario/1
model:
  definition:
    format: sluice-model/1
    name: two
    layers:
    - {type: input, name: x, shape: [1]}
    - {type: dense, name: one, features: 1}
    - {type: dense, name: two, features: 1}
platform:
  format: sluice-platform/1
  name: card
  devices:
    gpu:
      rate: {float32: 1GFLOP/s}
      memory: [{capacity: unlimited, bandwidth: 1GB/s}, {name: ddr, capacity: unlimited, bandwidth: 600MB/s}]
  memories: {host: {capacity: unlimited}}
  links:
    host: {joins: [host, gpu], bandwidth: 1GB/s}
    far: {joins: [gpu, gpu_ddr], bandwidth: 10GB/s}
stages: per_layer
policy: {name: resident}
workload: {batch: 1, mode: training, optimizer: sgd}
)";

TEST_CASE("optimal fates are compared with strategies whose tensors are placed", "[placement]") {
  // If all tensors are in HBM, the weights of the first layer and the image arrive after 8 + 4 ns, and the weights of the
  // second layer during the forward pass of the first. The forward pass of a layer reads 4
  // + 8 bytes and writes 4 bytes, in 16 ns. Its backward pass is priced at twice these seconds. Its update takes 24 ns.
  const double hbm = 12 + 2 * (16 + 32 + 24);
  CHECK(1e9 * seconds_of(plan_of(on_card, {"fates=optimal", "policy.placement=none"})) ==
        Approx(hbm));
  // With a placement, each backward pass is priced by its own bytes. The backward pass of the second layer reads 4
  // bytes of input, 8 bytes of weights and 4 bytes of the output's gradient. It writes 4 + 8 bytes of gradients, so it
  // takes 28 ns. The backward pass of the first layer does not write the gradient of the image, so it takes 24 ns.
  // A copy stream of its own brings the image to DDR. The image shares the link with the weights of the first layer, so
  // the image and these weights have arrived after 8 + 4 ns. The forward and the backward pass of the first layer read
  // the image from DDR, in 4 / 0.6 ns instead of 4 ns.
  const double placed = 12 + 2 * (16 + 24) + 28 + 24 + 2 * (4 / 0.6 - 4);
  CHECK(1e9 * seconds_of(plan_of(on_card, {"fates=keep_all", "policy.placement=static"})) ==
        Approx(placed));
  const Plan chosen = plan_of(on_card, {"fates=optimal"});
  CHECK(1e9 * seconds_of(chosen) == Approx(placed));
  CHECK(text_of(chosen, "chosen") == "placement: static, strategy: keep_all");
  CHECK(text_of(chosen, "fates") == "keep_all");
  // The search for fates has proven a bound of a micro-batch for runs in the first memory alone. It does not hold for
  // runs with a placement. Such runs have a bound of their own: the kernels take at least the seconds of the first
  // memory, and follow the first loads. Here, only the reads of the image from DDR take longer.
  CHECK(find_fact(chosen.facts, "micro_batch_bound_s") == nullptr);
  CHECK(find_fact(chosen.facts, "gap") == nullptr);
  const Fact* const gap = find_fact(chosen.facts, "gap", "placement static");
  REQUIRE(gap != nullptr);
  CHECK(gap->number()->value >= 0);
  CHECK(gap->number()->value <= 1 - 140 / placed + 1e-9);
  // If the scenario says `placement: none`, the plan has the fact `gap`.
  const Plan alone = plan_of(on_card, {"fates=optimal", "policy.placement=none"});
  CHECK(find_fact(alone.facts, "gap") != nullptr);
}

TEST_CASE(
    "if several placements were compared, a gap that was proven for only one of these placements names this "
    "placement",
    "[placement]") {
  // Here, DDR has 6 MB/s instead of 600 MB/s, so the run is fastest with all tensors in HBM. With `backward:
  // per_layer`, each backward pass has the same price with and without a placement.
  const Plan plan =
      plan_of(on_card, {"fates=optimal", "platform.devices.gpu.memory.1.bandwidth=6MB/s",
                        "platform.links.far.bandwidth=1MB/s", "workload.backward=per_layer"});
  CHECK(text_of(plan, "chosen") == "placement: none");
  CHECK(find_fact(plan.facts, "gap") == nullptr);
  CHECK(find_fact(plan.facts, "gap", "placement none") != nullptr);
}

TEST_CASE("if the fates are open, the tensors of every strategy are placed", "[placement]") {
  double least = std::numeric_limits<double>::infinity();
  for (const FateStrategy* strategy : fate_catalog().entries())
    if (strategy->compared)
      least = std::min(least, seconds_of(plan_of(on_card, {"fates=" + strategy->name})));
  CHECK(seconds_of(plan_of(on_card)) == Approx(least));
  CHECK(seconds_of(plan_of(on_card, {"fates=optimal"})) == Approx(least));
}

TEST_CASE("if several strategies choose equal fates, tensors are placed only for the first of them",
          "[placement]") {
  // With a single stage, `sqrt` keeps all tensors, and `selective` finds no layer to run again. So `sqrt` and
  // `selective` choose the same fates as `keep_all`. `checkpoint` chooses the same fates as `recompute_all`. So the six
  // strategies choose only three different lists of fates.
  const Plan chosen = plan_of(on_card, {"stages=whole", "policy.placement=first_touch"});
  CHECK(text_of(chosen, "fates") == "keep_all");
  CHECK(text_of(chosen, "chosen") == "strategy: keep_all");
  CHECK(text_of(chosen, "chosen_from") == "3");
  for (const char* strategy : {"sqrt", "selective"})
    CHECK(seconds_of(chosen) ==
          Approx(seconds_of(plan_of(on_card, {"stages=whole", "policy.placement=first_touch",
                                              std::string("fates=") + strategy}))));
}

/// A server with a fast memory of 100 byte/s, `dram`, and a slow memory of 10 byte/s, `pmem`. The server has so many
/// FLOP/s that kernels only take the time of their bytes. The slow memory is also its host memory.
const std::string server = R"(platform:
  format: sluice-platform/1
  name: server
  devices:
    cpu: {rate: {float32: 1000TFLOP/s}, memory: [dram, pmem]}
  memories:
    dram: {capacity: 1B, bandwidth: 100B/s}
    pmem: {capacity: 40000B, bandwidth: 10B/s}
  links:
    copy: {joins: [dram, pmem], bandwidth: 2B/s}
stages: per_layer
policy: {name: resident, placement: all_slow}
workload: {batch: 1, mode: training, optimizer: sgd, backward: per_layer}
)";

TEST_CASE("optimal fates are possible if only slow memory has room", "[placement]") {
  const std::string text = test::two_products_model + server;
  // All bytes are read and written at 10 byte/s. The forward pass reads and writes 920 bytes in the first layer, and
  // 500 bytes in the second layer. The backward pass of the first layer reads and writes 1720 bytes: the image (40),
  // the weights (800) and gradients (80 + 800). The backward pass of the second layer reads and writes 980 bytes. The
  // update reads and writes 2400 bytes in the first layer, and 1200 bytes in the second layer.
  const double step = 92 + 50 + 172 + 98 + 240 + 120;
  CHECK(seconds_of(plan_of(text, {"fates=keep_all"})) == Approx(step));
  // DRAM has one byte, so no tensor fits into it, and the search for fates has no budget. Then `optimal` keeps all
  // tensors.
  CHECK(seconds_of(plan_of(text, {"fates=optimal"})) == Approx(step));
  CHECK(seconds_of(plan_of(text, {"fates=optimal", "policy.placement=static"})) == Approx(step));
  CHECK(seconds_of(plan_of(text, {"policy.placement=static"})) == Approx(step));
  CHECK_THROWS_AS(plan_of(text, {"fates=optimal", "policy.placement=none"}), Infeasible);
}

TEST_CASE("tensors of selective recomputation are placed, too", "[placement]") {
  // The layer `core` reads 3 * 128 bytes, writes 128 bytes, and keeps 64 bytes of probabilities. Selective
  // recomputation runs `core` again to make the probabilities. In slow memory, its 512 bytes take 51.2 s.
  const std::string text = R"(format: sluice-scenario/1
model:
  definition:
    format: sluice-model/1
    name: attends
    layers:
    - {type: input, name: x, shape: [4, 8]}
    - {type: matmul, name: q, features: 8, inputs: [x]}
    - {type: matmul, name: k, features: 8, inputs: [x]}
    - {type: matmul, name: v, features: 8, inputs: [x]}
    - {type: attention, name: core, heads: 1, inputs: [q, k, v]}
)" + server;
  // Each of the three products reads x (128 bytes) and its weights (256 bytes), and writes 128 bytes. The backward pass
  // of a product reads and writes 768 bytes, because it makes no gradient of x. The backward pass of `core` reads and
  // writes 960 bytes, and each update reads and writes 768 bytes.
  const double step = (3 * 512 + 512 + 960 + 3 * 768 + 3 * 768) / 10.0;
  CHECK(seconds_of(plan_of(text, {"fates=keep_all"})) == Approx(step));
  CHECK(seconds_of(plan_of(text, {"fates=selective"})) == Approx(step + 51.2));
  // A single action makes the probabilities again, before the backward pass of `core`.
  const Plan plan = plan_of(text, {"fates=selective"});
  std::size_t again = 0;
  for (const Action& action : plan.actions) again += action.kind == ActionKind::recompute ? 1 : 0;
  CHECK(again == 1);
  for (const char* dram : {"900B", "1500B"}) {
    const std::string size = std::string("platform.memories.dram.capacity=") + dram;
    const auto with = [&](const std::string& strategy) {
      return seconds_of(plan_of(text, {size, "policy.placement=static", "fates=" + strategy}));
    };
    const double optimal = with("optimal");
    for (const char* fates : {"keep_all", "selective", "offload_all", "recompute_all"}) {
      INFO(dram << ", " << fates);
      CHECK(optimal <= with(fates) * (1 + 1e-9));
    }
  }
}

// With offloaded activations, the run took 3.3198 ms with 1200 B of HBM, but 3.3209 ms with 1800 B: a load of an
// activation began earlier, and slowed down other transfers.
TEST_CASE("more fast memory makes no training with offloaded activations slower", "[placement]") {
  const std::string text = R"(format: sluice-scenario/1
model: {definition: {format: sluice-model/1, name: r, layers: [{type: input, name: x, shape: [54]}, {type: dense, name: l0, features: 47}, {type: dense, name: l1, features: 59}]}}
platform:
  format: sluice-platform/1
  name: card
  devices: {gpu: {rate: {float32: 100MFLOP/s}, memory: [{capacity: 1MB, bandwidth: 200MB/s}, {name: ddr, capacity: 60kB, bandwidth: 400MB/s}]}}
  memories: {host: {capacity: 1GB}}
  switches: [hub]
  links: {host: {joins: [host, hub], bandwidth: 200MB/s}, fan: {joins: [hub, gpu], bandwidth: 200MB/s, setup: 1us, sharing: private}, far: {joins: [gpu, gpu_ddr], bandwidth: 300MB/s, sharing: private}}
workload: {mode: training, batch: 4, micro_batch: 1, steps: 3, optimizer: none}
cost: roofline
stages: per_layer
policy: {name: resident, placement: auto}
)";
  double before = 0;
  for (const char* bytes : {"1200B", "1800B", "3000B"}) {
    INFO(bytes);
    const double now =
        seconds_of(plan_of(text, {std::string("platform.devices.gpu.memory.0.capacity=") + bytes}));
    if (before > 0) CHECK(now <= before * (1 + 1e-9));
    before = now;
  }
}

}  // namespace
}  // namespace sluice
