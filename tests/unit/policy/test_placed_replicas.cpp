// Placements of tensors for replicas: under data_parallel, each device has two memories of its own, and the devices
// share the link to host memory.
#include <catch2/catch.hpp>
#include <limits>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "policy/settle/replicas.hpp"
#include "scenario/scenario.hpp"
#include "support/both_executors.hpp"
#include "support/campaign.hpp"
#include "support/random_chain.hpp"
#include "support/two_memory_cards.hpp"
#include "support/two_products.hpp"

namespace sluice {
namespace {

/// Returns the seconds of the run, or nothing if the scenario is refused.
std::optional<double> seconds_of(const std::string& text,
                                 const std::vector<std::string>& overrides = {}) {
  try {
    Value document = parse_text(text, "cards.yaml");
    apply_overrides(document, overrides);
    const Plan plan = make_plan(read_scenario(document, "cards"));
    check(plan);
    return replay(plan).makespan;
  } catch (const InputError&) {
  } catch (const Infeasible&) {
  }
  return std::nullopt;
}

/// A random scenario with replicas, of training if `trains` is true. The stages are given, because the search for a cut
/// takes long.
class RandomReplicas {
 public:
  /// Returns a scenario of inference in which one replica computes fewer batches than the first one.
  static RandomReplicas with_uneven_batches(std::uint64_t seed, const std::string& replica) {
    RandomReplicas made{test::Dice(seed)};
    made.replica_ = replica;
    const std::uint64_t count = 2 + made.dice_.below(2);
    made.add_platform(count, 500);
    made.text_ += "stages: per_layer\n";
    made.add("workload: {batch: ", 1, 2, "");
    made.add(", batches_per_step: ", count + 1, 2 * count - 1, "");
    made.add(", steps: ", 1, 2, "}\n");
    if (made.dice_.one_in(4)) made.policy_ += ", overlap: false";
    return made;
  }

  explicit RandomReplicas(std::uint64_t seed, bool trains = false) : dice_(seed) {
    const std::uint64_t count = 2 + dice_.below(2);
    const bool streamed = dice_.one_in(2);
    if (streamed) replica_ = "streamed";
    const bool training = dice_.one_in(3) || trains;
    add_platform(count, training ? 2000 : 500);
    text_ += dice_.one_in(3) ? "stages: whole\n" : "stages: per_layer\n";
    if (training)
      add_training(count);
    else
      add_inference(count);
    if (streamed && !training && dice_.one_in(2))
      policy_ += ", pieces: whole, prefetch: 0, resident: none";
    if (dice_.one_in(4)) policy_ += ", overlap: false";
  }

  const std::string& text() const { return text_; }
  std::string text(const std::string& placement) const {
    return text_ + "cost: roofline\npolicy: {name: data_parallel, replica: " + replica_ + policy_ +
           ", placement: " + placement + "}\n";
  }
  std::optional<double> seconds(const std::string& placement) const {
    return seconds_of(text(placement));
  }
  /// Returns the seconds if each first memory has `bytes` bytes.
  std::optional<double> seconds(const std::string& placement, std::int64_t bytes) const {
    return seconds_of(text(placement),
                      {"platform.devices.gpu.memory.0.capacity=" + std::to_string(bytes) + "B"});
  }

 private:
  explicit RandomReplicas(test::Dice dice) : dice_(dice) {}

  /// Adds a text, a random number from `least` to `most`, and another text.
  void add(const std::string& before, std::uint64_t least, std::uint64_t most,
           const std::string& after) {
    text_ += before + std::to_string(least + dice_.below(most - least + 1)) + after;
  }

  void add_platform(std::uint64_t count, std::uint64_t least_bytes) {
    text_ = test::two_products_model + R"(platform:
  format: sluice-platform/1
  name: cards
  devices:
    gpu:
      count: )" +
            std::to_string(count);
    add("\n      rate: {float32: ", 100, 2000, "FLOP/s}\n      memory:\n");
    add("      - {capacity: ", least_bytes, 9000, "B");
    add(", bandwidth: ", 100, 2000, "B/s}\n");
    add("      - {name: ddr, capacity: ", 1000, 12'000, "B");
    add(", bandwidth: ", 10, 1000, "B/s}\n");
    text_ += "  memories: {host: {capacity: 1MB}}\n  switches: [hub]\n  links:\n";
    add("    host: {joins: [host, hub], bandwidth: ", 5, 200, "B/s");
    text_ += dice_.one_in(3) ? ", latency: 1s}\n" : "}\n";
    add("    fan: {joins: [hub, gpu], bandwidth: ", 20, 400, "B/s}\n");
    add("    far: {joins: [gpu, gpu_ddr], bandwidth: ", 20, 500, "B/s}\n");
  }

  void add_training(std::uint64_t count) {
    text_ += "workload: {mode: training, batch: " + std::to_string(2 * count);
    add(", micro_batch: ", 1, 2, "");
    add(", steps: ", 1, 3, "}\n");
    text_ += dice_.one_in(2) ? "fates: keep_all\n" : "fates: offload_all\n";
    if (dice_.one_in(2)) policy_ += ", all_reduce: \"off\"";
  }

  void add_inference(std::uint64_t count) {
    add("workload: {batch: ", 1, 3, "");
    add(", batches_per_step: ", count, 2 * count, "");
    add(", steps: ", 1, 3, "}\n");
  }

  test::Dice dice_;
  std::string text_, policy_, replica_ = "resident";
};

TEST_CASE("with an open placement, replicas are never slower than with any given placement",
          "[placement][property]") {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of<std::uint64_t>(15, 60); ++seed) {
    const RandomReplicas replicas(seed);
    const std::optional<double> open = replicas.seconds("auto");
    for (const char* placement : {"none", "backing", "static", "all_slow", "first_touch"}) {
      const std::optional<double> given = replicas.seconds(placement);
      if (!given) continue;
      INFO("seed " << seed << ", placement " << placement << "\n" << replicas.text());
      REQUIRE(open);
      CHECK(*open <= *given * (1 + 1e-9));
      ++compared;
    }
  }
  CHECK(compared > 40);
}

/// The lower bound of the run of all replicas, and its seconds. Both are 0 if the scenario is refused.
struct BoundedRun {
  double at_least = 0, seconds = 0;
};
BoundedRun bounded_run(const std::string& text) try {
  const Scenario scenario = read_scenario(parse_text(text, "cards.yaml"), "cards");
  const CutModel cut = cut_models(scenario).front();
  const PolicyRequest request = request_of(scenario, cut, scenario.fates);
  const Reader& parameters = scenario.policy.keys.reader();
  const Plan plan = finish(scenario.policy->plan(request, parameters), request);
  check(plan);
  return {bound_of_replicas(acting_policy(*scenario.policy, parameters), request, parameters, true)
              .seconds,
          replay(plan).makespan};
} catch (const InputError&) {
  return {};
} catch (const Infeasible&) {
  return {};
}

TEST_CASE("no training of replicas with two memories takes fewer seconds than its bound",
          "[placement][property]") {
  int compared = 0, near = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{40}); ++seed) {
    const RandomReplicas replicas(seed, true);
    for (const char* placement : {"none", "backing", "static", "all_slow"}) {
      INFO("seed " << seed << "\n" << replicas.text(placement));
      const BoundedRun run = bounded_run(replicas.text(placement));
      if (run.seconds == 0) continue;
      CHECK(run.at_least <= run.seconds);
      ++compared;
      near += run.seconds <= 1.5 * run.at_least ? 1 : 0;
    }
  }
  CHECK(compared > 50);
  CHECK(near > compared / 5);
}

/// Checks that replicas are never slower with more fast memory. Counts the comparisons, and those with a faster run.
struct RisingMemory {
  int compared = 0, faster = 0;

  void run(const RandomReplicas& replicas, std::uint64_t seed, const std::string& placement) {
    std::optional<double> before;
    for (const std::int64_t bytes : {400, 900, 1500, 2500, 4000, 7000}) {
      INFO("seed " << seed << ", " << bytes << " B, " << replicas.text(placement));
      const std::optional<double> now = replicas.seconds(placement, bytes);
      if (before) REQUIRE(now);
      if (before) CHECK(*now <= *before * (1 + 1e-9));
      compared += before ? 1 : 0;
      faster += before && *now < *before ? 1 : 0;
      if (now) before = now;
    }
  }
};

TEST_CASE("replicas with two memories are never slower with more fast memory or with more freedom",
          "[placement][property]") {
  const std::vector<std::string> freer = {"first_touch", "static", "synchronous", "asynchronous"};
  const std::vector<std::string> tried = {"auto", "asynchronous", "synchronous", "static",
                                          "first_touch"};
  RisingMemory rising;
  for (std::uint64_t seed = 0; seed < test::cases_of<std::uint64_t>(6, 12); ++seed) {
    const RandomReplicas replicas(seed, /*trains=*/true);
    rising.run(replicas, seed, tried[static_cast<std::size_t>(seed % tried.size())]);
    std::optional<double> with_less;
    for (const std::string& way : freer) {
      const std::optional<double> now = replicas.seconds(way, 1500);
      INFO("seed " << seed << ", " << replicas.text(way));
      if (with_less) REQUIRE(now);
      if (with_less) CHECK(*now <= *with_less * (1 + 1e-9));
      rising.compared += with_less ? 1 : 0;
      if (now) with_less = now;
    }
  }
  CHECK(rising.compared > 30);
  CHECK(rising.faster > 5);
}

// Before, each of four replicas with two or one batches per step chose its placement as if it ran alone. So with 621 B
// of fast memory, the run took 4.28 ms, and with 1658 B 4.58 ms.
TEST_CASE("replicas with different numbers of batches are never slower with more fast memory",
          "[placement]") {
  const std::string text = R"(format: sluice-scenario/1
model: {definition: {format: sluice-model/1, name: r, layers: [{type: input, name: x, shape: [17]}, {type: dense, name: l0, features: 50}, {type: dense, name: l1, features: 6}, {type: dense, name: l2, features: 46}, {type: dense, name: l3, features: 54}]}}
platform:
  format: sluice-platform/1
  name: random
  devices: {gpu: {count: 4, rate: {float32: 100MFLOP/s}, memory: [{capacity: 1MB, bandwidth: 500MB/s}, {name: ddr, capacity: 20732B, bandwidth: 50MB/s}]}}
  memories: {host: {capacity: 1GB}}
  switches: [hub]
  links: {host: {joins: [host, hub], bandwidth: 20MB/s}, fan: {joins: [hub, gpu], bandwidth: 200MB/s}, far: {joins: [gpu, gpu_ddr], bandwidth: 1GB/s}}
workload: {batch: 3, batches_per_step: 7, steps: 2}
cost: roofline
stages: per_layer
policy: {name: data_parallel, replica: resident, placement: static}
)";
  double before = std::numeric_limits<double>::infinity();
  for (const std::int64_t bytes : {621, 1658, 3109, 8293}) {
    INFO(bytes << " B");
    const std::optional<double> now =
        seconds_of(text, {"platform.devices.gpu.memory.0.capacity=" + std::to_string(bytes) + "B"});
    REQUIRE(now);
    CHECK(*now <= before * (1 + 1e-9));
    before = *now;
  }
  CHECK(before < 4.05e-3);
}

TEST_CASE("no replica of a random scenario with uneven batches is slower with more fast memory",
          "[placement][property]") {
  const std::vector<std::string> placements = {"static", "first_touch", "asynchronous", "auto"};
  RisingMemory rising;
  for (const char* replica : {"resident", "streamed", "phased"})
    for (std::uint64_t seed = 0; seed < test::cases_of<std::uint64_t>(4, 12); ++seed) {
      const auto replicas = RandomReplicas::with_uneven_batches(seed, replica);
      rising.run(replicas, seed, placements[static_cast<std::size_t>(seed % placements.size())]);
    }
  CHECK(rising.compared > 30);
  CHECK(rising.faster > 5);
}

// The replicas load in turn. Before, the order of the loads came from a run in which inputs waited for memory. So with
// 20,826 B of fast memory, the run took 676.8 us, and with more memory 677.3 us.
TEST_CASE("the order in which replicas load does not depend on the size of fast memory",
          "[placement]") {
  const std::string text = R"(format: sluice-scenario/1
model: {definition: {format: sluice-model/1, name: r, layers: [{type: input, name: x, shape: [59]}, {type: dense, name: l0, features: 41}, {type: dense, name: l1, features: 40}, {type: dense, name: l2, features: 12}, {type: dense, name: l3, features: 8}]}}
platform:
  format: sluice-platform/1
  name: random
  devices: {gpu: {count: 4, rate: {float32: 1GFLOP/s}, memory: [{capacity: 1MB, bandwidth: 2GB/s}, {name: ddr, capacity: 24502B, bandwidth: 50MB/s}]}}
  memories: {host: {capacity: 1GB}}
  switches: [hub]
  links: {host: {joins: [host, hub], bandwidth: 200MB/s, setup: 5us}, fan: {joins: [hub, gpu], bandwidth: 1GB/s}, far: {joins: [gpu, gpu_ddr], bandwidth: 1GB/s, sharing: private}}
workload: {batch: 3, batches_per_step: 8, steps: 3}
cost: roofline
stages: per_layer
policy: {name: data_parallel, replica: resident, transfers: in_turn, placement: auto}
)";
  double before = std::numeric_limits<double>::infinity();
  for (const std::int64_t bytes : {20'826, 20'900, 31'852}) {
    INFO(bytes << " B");
    const std::optional<double> now =
        seconds_of(text, {"platform.devices.gpu.memory.0.capacity=" + std::to_string(bytes) + "B"});
    REQUIRE(now);
    CHECK(*now <= before * (1 + 1e-9));
    before = *now;
  }
  CHECK(before < 677e-6);
}

TEST_CASE("replicas compare placements in a run of all replicas", "[placement]") {
  // Each replica may have one or two batches in flight, and the link to host memory is busy with the copies of both. So
  // a replica alone prefers another placement than both replicas together.
  const std::string text = test::two_products_model + R"(platform:
  format: sluice-platform/1
  name: cards
  devices:
    gpu:
      count: 2
      rate: {float32: 1095FLOP/s}
      memory:
      - {capacity: 4963B, bandwidth: 919B/s}
      - {name: ddr, capacity: 4354B, bandwidth: 868B/s}
  memories: {host: {capacity: 1MB}}
  switches: [hub]
  links:
    host: {joins: [host, hub], bandwidth: 191B/s, latency: 1s}
    fan: {joins: [hub, gpu], bandwidth: 187B/s}
    far: {joins: [gpu, gpu_ddr], bandwidth: 240B/s}
stages: per_layer
workload: {batch: 2, batches_per_step: 3, steps: 1}
cost: roofline
policy: {name: data_parallel, replica: streamed, placement: )";
  const auto seconds = [&](const std::string& placement) {
    const std::optional<double> found = seconds_of(text + placement + "}\n");
    REQUIRE(found);
    return *found;
  };
  const double chosen = seconds("auto");
  // The second replica has the plan of the first one without its last batch, so that more memory is never slower. If the
  // two had different plans, `static` would take 17.28 s.
  CHECK(chosen == Approx(17.637317940332725).epsilon(1e-9));
  CHECK(chosen < seconds("backing") * 0.99);
  for (const char* placement : {"none", "backing", "static", "all_slow"}) {
    INFO(placement);
    CHECK(chosen <= seconds(placement) * (1 + 1e-9));
  }
}

/// Training of two products as one stage, on two cards with two memories each. Each replica has one of two samples.
Plan trained(const std::string& placement, const std::string& all_reduce,
             test::Seconds seconds = test::Seconds::own, const std::string& replica = "streamed") {
  Value document =
      test::on_cards(20'000, 20'000,
                     "policy: {name: data_parallel, replica: " + replica +
                         ", overlap: false, "
                         "all_reduce: \"" +
                         all_reduce + "\", placement: " + placement +
                         "}\nfates: keep_all\n"
                         "workload: {mode: training, batch: 2, micro_batch: 1, optimizer: none}\n",
                     seconds)
          .document;
  apply_overrides(document, {"stages={cut: whole}"});
  if (seconds == test::Seconds::own)
    apply_overrides(document, {"platform.links.far.bandwidth=5B/s"});
  return make_plan(read_scenario(document, "cards"));
}

TEST_CASE("replicas sum gradients from the memories in which the gradients are", "[placement]") {
  const auto ring = [](const std::string& placement, test::Seconds seconds) {
    return test::seconds_in_both_executors(trained(placement, "after", seconds)) -
           test::seconds_in_both_executors(trained(placement, "off", seconds));
  };
  // The gradients have 1200 bytes. Each device sends two pieces of 600 bytes to the other device. Between the first
  // memories, a piece takes 60 s at 10 byte/s.
  CHECK(ring("none", test::Seconds::own) == Approx(2 * 60).epsilon(1e-9));
  CHECK(ring("static", test::Seconds::own) == Approx(2 * 60).epsilon(1e-9));
  // From one second memory to the other, a piece goes over the two links `far`, and takes 120 s at 5 byte/s.
  CHECK(ring("all_slow", test::Seconds::own) == Approx(2 * 120).epsilon(1e-9));
  // If the second memory is the same, the gradients stay in the first memories.
  CHECK(ring("all_slow", test::Seconds::common) == Approx(2 * 60).epsilon(1e-9));
}

TEST_CASE(
    "replicas that keep all weights sum gradients from the memories in which the gradients are",
    "[placement]") {
  const auto seconds = [](const std::string& placement) {
    return test::seconds_in_both_executors(
        trained(placement, "after", test::Seconds::own, "resident"));
  };
  // The weights and the input, 1240 bytes, take 124 s over the link to host memory. The products read and write 1420
  // bytes in 14.2 s, and the backward pass takes twice as long. Then each device sends two pieces of 600 bytes, which
  // take 60 s each between the first memories.
  const double computed = 3 * 14.2;
  CHECK(seconds("none") == Approx(124 + computed + 2 * 60).epsilon(1e-9));
  CHECK(seconds("static") == Approx(124 + computed + 2 * 60).epsilon(1e-9));
  CHECK(seconds("auto") == Approx(124 + computed + 2 * 60).epsilon(1e-9));
  // Kernels take ten times as long in the second memory. Copies to it and between the second memories pass the links
  // `far` at 5 byte/s.
  CHECK(seconds("all_slow") == Approx(248 + 10 * computed + 2 * 120).epsilon(1e-9));
}

}  // namespace
}  // namespace sluice
