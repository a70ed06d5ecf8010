#include <catch2/catch.hpp>

#include <set>
#include <utility>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "run/isolated.hpp"
#include "scenario/question_bound.hpp"
#include "scenario/scenario.hpp"
#include "support/campaign.hpp"
#include "support/random_chain.hpp"
#include "support/two_products.hpp"

namespace sluice {
namespace {

using Catch::Matchers::Contains;

Scenario two_products(const std::string& dram, const std::string& workload = "batch: 1, steps: 3",
                      const std::string& more = "policy: {name: resident, placement: static}\n") {
  return test::on_server("stages: {cut: per_layer}\n" + more + "workload: {" + workload + "}\n",
                         dram);
}

double seconds_of(const Scenario& scenario) {
  return replay(make_plan(scenario)).makespan;
}

TEST_CASE("inference with tensors in two memories takes the seconds computed by hand",
          "[placement]") {
  // For only three images, a copy of weights to DRAM takes more seconds than it saves. So only the tensor between the
  // products is in DRAM. Each image takes (40 + 800 + 400 + 20) / 10 + (80 + 80) / 100 s.
  CHECK(seconds_of(two_products("1020B")) == Approx(3 * 127.6));
  // For ten images, DRAM holds the weights of the first product (800), the tensor between the products (80), two images
  // (80) and two answers (40). One of the images and one of the answers are in transfer. The weights of the second
  // product stay in PMEM. The weights of the first product are loaded in 400 s, and then the first image in 20 s. The
  // other images are loaded during the products. The first product reads and writes 840 + 80 bytes in DRAM, in 9.2 s.
  // The second product reads and writes 80 + 20 bytes in DRAM, in 1 s, and reads 400 bytes in PMEM, in 40 s. The last
  // answer is saved in 10 s.
  const Scenario scenario = two_products("1020B", "batch: 1, steps: 10");
  CHECK(seconds_of(scenario) == Approx(400 + 20 + 10 * (9.2 + 41) + 10));
  const Plan plan = make_plan(scenario);
  for (const Action& action : plan.actions)
    if (!action.is_transfer() && action.stage == 1) CHECK(action.seconds == Approx(41));
  // 60 bytes of DRAM have room for only one image and one answer. So all tensors stay in PMEM, and nothing is copied.
  // An image takes (40 + 800 + 80 + 80 + 400 + 20) / 10 s.
  CHECK(seconds_of(two_products("60B")) == Approx(3 * 142));
}

TEST_CASE("reading inputs in place is compared with copying the inputs", "[placement]") {
  // The weights of both products are loaded into DRAM. The first product has its weights after 800 / 2 = 400 s. The
  // second product has its weights after 1200 / 2 = 600 s. The images stay in PMEM: a copy of 40 bytes to DRAM would
  // take 20 s, but a read of 40 bytes takes 4 s in PMEM and 0.4 s in DRAM. So for each image, the two products take (4
  // + 8.8) + 5 s. The last answer is saved in 10 s.
  const Scenario scenario = two_products("4000B", "batch: 1, steps: 40");
  CHECK(seconds_of(scenario) == Approx(600 + 5 + 39 * (12.8 + 5) + 10));
}

TEST_CASE("tensors in slow memory need no room in fast memory", "[placement]") {
  // No tensor fits into one byte of DRAM, so all tensors are in PMEM.
  for (const char* way : {"static", "first_touch", "all_slow"})
    CHECK(seconds_of(two_products("1B", "batch: 1, steps: 3",
                                  std::string("policy: {name: resident, placement: ") + way +
                                      "}\n")) == Approx(3 * 142));
  // Images and answers stay in PMEM. So 85 bytes of DRAM have room for the tensor between the products, which has 80
  // bytes. Beside an image of 40 bytes or an answer of 20 bytes, this tensor would not fit. An image takes (40 + 800 +
  // 400 + 20) / 10 + 160 / 100 s.
  CHECK(seconds_of(two_products("85B")) == Approx(3 * 127.6));
  CHECK(seconds_of(two_products("79B")) == Approx(3 * 142));
}

/// Returns products of random widths. Shortcuts lead around one or several products, so some products read two tensors.
/// The slow memory is either host memory or a second memory of the device.
Scenario random_products(std::uint64_t seed, const std::string& placement, std::int64_t dram) {
  test::Dice dice(seed);
  const auto number = [&](std::uint64_t least, std::uint64_t most) {
    return std::to_string(least + dice.below(most - least + 1));
  };
  std::string layers = "    - {type: input, name: image, shape: [" + number(1, 40) + "]}\n";
  std::string shortcut = "image";
  for (std::uint64_t l = 0, count = 1 + dice.below(5); l < count; ++l) {
    const std::string name = std::to_string(l);
    layers += "    - {type: dense, name: dense" + name + ", features: " + number(1, 40) + "}\n";
    if (!dice.one_in(3)) continue;
    layers += "    - {type: concat, name: both" + name + ", inputs: [dense" + name + ", " +
              std::exchange(shortcut, "dense" + name) + "]}\n";
  }
  const std::string fast = "{capacity: " + std::to_string(dram) + "B, bandwidth: 100B/s}";
  const std::string slow = "capacity: 1MB, bandwidth: " + number(5, 50) + "B/s}";
  const std::string copy = number(1, 60), link = number(1, 60);
  const bool shared = dice.one_in(2);
  const std::string memories =
      shared
          ? "      memory: [dram, pmem]\n  memories:\n    dram: " + fast + "\n    pmem: {" + slow +
                "\n  links:\n    copy: {joins: [dram, pmem], bandwidth: " + copy + "B/s}\n"
          : "      memory:\n      - " + fast + "\n      - {name: ddr, " + slow +
                "\n  memories:\n    host: {capacity: 1MB}\n  links:\n    host: {joins: [host, "
                "cpu], bandwidth: " +
                link + "B/s}\n    far: {joins: [cpu, cpu_ddr], bandwidth: " + copy + "B/s}\n";
  const bool trains = dice.one_in(2);
  const std::string training =
      trains ? ", mode: training, optimizer: sgd, backward: per_layer" : "";
  static const std::vector<std::string> strategies = {"keep_all", "checkpoint", "offload_all",
                                                      "recompute_all", "auto"};
  const std::string fates = trains ? "fates: " + strategies[seed % 5] + "\n" : "";
  return read_scenario(
      parse_text("format: sluice-scenario/1\nmodel:\n  definition:\n    format: sluice-model/1\n"
                 "    name: random\n    layers:\n" +
                     layers +
                     "platform:\n  format: sluice-platform/1\n  name: server\n  devices:\n"
                     "    cpu:\n      rate: {float32: 10kFLOP/s}\n" +
                     memories + fates +
                     "stages: {cut: per_layer}\npolicy: {name: resident, placement: " + placement +
                     "}\nworkload: {batch: " + number(1, 3) + ", steps: " + number(1, 4) +
                     training + "}\n",
                 "random.yaml"),
      "random");
}

TEST_CASE("more fast memory never makes a placed run slower", "[placement][property]") {
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{8}); ++seed)
    for (const char* way : {"static", "first_touch", "all_slow", "cached", "auto"}) {
      double before = std::numeric_limits<double>::infinity();
      test::Dice sizes(seed);
      std::int64_t dram = 1;
      for (int n = 0; n < 8; ++n, dram += 1 + static_cast<std::int64_t>(sizes.below(3000))) {
        INFO("seed " << seed << ", " << way << ", " << dram << " bytes of fast memory");
        const double seconds = seconds_of(random_products(seed, way, dram));
        CHECK(seconds <= before * (1 + 1e-9));
        before = seconds;
      }
    }
}

TEST_CASE("a run with placement auto is never slower than a run in the first memory",
          "[placement][property]") {
  int fitted = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{12}); ++seed)
    for (const std::int64_t dram : {3000, 10'000, 100'000}) {
      double first = 0;
      try {
        first = seconds_of(random_products(seed, "none", dram));
      } catch (const Infeasible&) {
        continue;
      }
      ++fitted;
      INFO("seed " << seed << ", " << dram << " bytes of fast memory");
      CHECK(seconds_of(random_products(seed, "auto", dram)) <= first * (1 + 1e-9));
    }
  CHECK(fitted > 12);
}

TEST_CASE("no run with a placement is faster than the bound of the question",
          "[placement][property]") {
  // If all tensors are in DRAM, an image takes (40 + 800 + 80 + 80 + 400 + 20) / 100 s.
  CHECK(question_bound(two_products("1020B")).seconds == Approx(3 * 14.2));
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{12}); ++seed)
    for (const char* way : {"static", "first_touch", "all_slow", "cached", "auto"})
      for (const std::int64_t dram : {200, 3000, 100'000}) {
        INFO("seed " << seed << ", " << way << ", " << dram << " bytes of fast memory");
        const Scenario scenario = random_products(seed, way, dram);
        const double bound = question_bound(scenario).seconds;
        CHECK(bound > 0);
        CHECK(seconds_of(scenario) >= bound * (1 - 1e-9));
      }
}

TEST_CASE("if loads of weights take long, tensors without loads are in fast memory",
          "[placement]") {
  // In a step, the first weights save 4 x 800 x 0.09 s in DRAM, and their gradients 2 x 800 x 0.09 s. But a load of these
  // weights takes 400 s, and no gradient is loaded. So in a run of one step, the weights and the image are in PMEM, and
  // all other tensors in DRAM. The forward passes take (40 + 800) / 10 + 80 / 100 s and 400 / 10 + (80 + 20) / 100 s. The
  // backward pass of the second product reads 400 bytes in PMEM and 100 bytes in DRAM, and writes 480 bytes in DRAM. That
  // of the first product reads 840 bytes in PMEM and 80 bytes in DRAM, and writes 800 bytes in DRAM. The updates read
  // 1200 bytes in DRAM, and they read and write 1200 bytes in PMEM.
  const double forward = 84.8 + 41, backward = (40 + 5.8) + (84 + 8.8), updates = 12 + 240;
  CHECK(seconds_of(two_products("20000B",
                                "mode: training, batch: 1, steps: 1, optimizer: sgd, backward: "
                                "per_layer")) == Approx(forward + backward + updates));
}

TEST_CASE("training also places gradients and optimizer state", "[placement]") {
  const std::string workload =
      "mode: training, batch: 4, micro_batch: 2, steps: 2, optimizer: momentum, backward: "
      "per_layer";
  double before = std::numeric_limits<double>::infinity();
  for (const char* dram : {"300B", "1000B", "2000B", "3000B", "5000B", "9000B"}) {
    const Plan plan = make_plan(two_products(dram, workload));
    const ReplayResult result = replay(plan);
    REQUIRE_FALSE(result.blocking);
    std::int64_t samples = 0;
    for (std::uint32_t a = 0; a < plan.actions.size(); ++a)
      samples += plan.actions[a].samples_done * plan.executions_of(a);
    CHECK(samples == 2 * 4);
    // With more DRAM, all kernels together must not take longer.
    double kernels = 0;
    for (const Action& action : plan.actions)
      if (!action.is_transfer()) kernels += action.seconds;
    CHECK(kernels <= before * (1 + 1e-9));
    before = kernels;
  }
}

/// Returns a scenario that trains the two products with the strategy `fates` and the placement `way`.
Scenario training_with(const std::string& fates, const std::string& way, const std::string& dram,
                       const std::string& cut = "whole") {
  Value document =
      two_products(dram,
                   "mode: training, batch: 2, micro_batch: 1, steps: 2, optimizer: sgd, "
                   "backward: per_layer",
                   "policy: {name: resident, placement: " + way + "}\nfates: " + fates + "\n")
          .document;
  apply_overrides(document, {"stages.cut=" + cut});
  return read_scenario(document, "two");
}

TEST_CASE("tensors that are recomputed are placed, too", "[placement]") {
  // In PMEM, the first product reads 840 bytes and writes 80 bytes. The second product reads 480 bytes and writes 20
  // bytes. Together, the two products take 142 s for each of the four micro-batches.
  CHECK(seconds_of(training_with("recompute_all", "all_slow", "1B")) ==
        Approx(seconds_of(training_with("keep_all", "all_slow", "1B")) + 4 * 142));
  // PMEM is also the host memory. So a tensor in PMEM is offloaded without a copy.
  CHECK(seconds_of(training_with("offload_all", "all_slow", "1B", "per_layer")) ==
        Approx(seconds_of(training_with("keep_all", "all_slow", "1B"))));
}

TEST_CASE("placements are possible with all strategies for fates that treat every stage as a whole",
          "[placement]") {
  std::set<ActionKind> kinds;
  for (const char* fates : {"recompute_all", "checkpoint", "offload_all", "sqrt"})
    for (const char* way : {"static", "first_touch", "all_slow", "cached"}) {
      double before = std::numeric_limits<double>::infinity();
      for (const char* dram : {"1B", "500B", "2000B", "3000B", "5000B", "9000B"}) {
        INFO(fates << ", " << way << ", " << dram);
        const Plan plan = make_plan(training_with(fates, way, dram, "per_layer"));
        check(plan);
        const ReplayResult result = replay(plan);
        REQUIRE_FALSE(result.blocking);
        CHECK(execute_isolated(plan).report.makespan == Approx(result.makespan).epsilon(1e-9));
        std::int64_t samples = 0;
        for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
          samples += plan.actions[a].samples_done * plan.executions_of(a);
          if (plan.actions[a].micro_batch >= 0) kinds.insert(plan.actions[a].kind);
        }
        CHECK(samples == 2 * 2);
        CHECK(result.makespan <= before * (1 + 1e-9));
        before = result.makespan;
      }
    }
  for (const ActionKind kind : {ActionKind::recompute, ActionKind::save, ActionKind::load})
    CHECK(kinds.count(kind) == 1);
}

TEST_CASE("a run with placement auto is as fast as with the fastest placement", "[placement]") {
  for (const char* workload : {"batch: 1, steps: 3", "batch: 2, steps: 40",
                               "mode: training, batch: 2, optimizer: sgd, backward: per_layer"}) {
    const auto with = [&](const std::string& placement) {
      return seconds_of(two_products("12000B", workload,
                                     "policy: {name: resident, placement: " + placement + "}\n"));
    };
    CHECK(with("auto") ==
          Approx(std::min({with("none"), with("static"), with("first_touch"), with("all_slow")})));
  }
  // The next scenario leaves only the placement open. All tensors fit into the first memory. In this scenario, too,
  // `auto` must be as fast as the fastest placement.
  const auto said = [](const std::string& placement) {
    return seconds_of(two_products(
        "12000B", "mode: training, batch: 2, micro_batch: 1, optimizer: sgd, backward: per_layer",
        "fates: {strategy: keep_all}\npolicy: {name: resident, placement: " + placement + "}\n"));
  };
  CHECK(said("auto") ==
        Approx(std::min({said("none"), said("static"), said("first_touch"), said("all_slow")})));
  // If the first memory is too small for all tensors, only runs with a placement are possible.
  const auto with = [](const std::string& placement) {
    return two_products("1000B", "batch: 1",
                        "policy: {name: resident, placement: " + placement + "}\n");
  };
  CHECK_THROWS_AS(seconds_of(with("none")), Infeasible);
  CHECK(seconds_of(with("auto")) == Approx(127.6));  // for one batch, the weights stay in PMEM
}

TEST_CASE("if a device has two memories, placement is auto by default", "[placement]") {
  const auto resident = [](const std::string& more = "") {
    return two_products("1000B", "batch: 1", "policy: resident\n" + more);
  };
  CHECK(seconds_of(resident()) == Approx(127.6));
  // The cost model `peak` does not count the bandwidths of memories. So placements are not tried, and no plan fits.
  CHECK_THROWS_AS(seconds_of(resident("cost: {model: peak}\n")), Infeasible);
  // The document of the scenario stays as the user wrote it.
  CHECK(resident().document.find("policy")->find("placement") == nullptr);
}

TEST_CASE("a run with a hardware cache takes the seconds computed by hand", "[placement]") {
  const auto cached = [](const char* dram) {
    return make_plan(
        two_products(dram, "batch: 1, steps: 3", "policy: {name: resident, placement: cached}\n"));
  };
  // The tensors have addresses from 0 to 1320, so all of them fit into the cache. Only the image is missing in the
  // cache, because it has new content in each round. The first product takes (40 + 800 + 80) / 100 s, and 40 / 10 s
  // more to fill the cache with the image. The second product takes (80 + 400 + 20) / 100 s. It writes the answer to
  // the addresses of the old image.
  const Plan plan = cached("2000B");
  CHECK(replay(plan).makespan == Approx(3 * (9.2 + 4 + 5)));
  const auto fact = [&](const char* name) { return find_fact(plan.facts, name)->number()->value; };
  CHECK(fact("cache_bytes") == 1320);
  CHECK(fact("cache_miss_bytes") == 40);
  CHECK(fact("cache_hit_bytes") == 800 + 80 + 80 + 400 + 20);
  CHECK(fact("cache_written_back_bytes") == 0);
  // The cache occupies DRAM during the whole run.
  const Tensor& cache = plan.tensors.front();
  CHECK(cache.name == "cache");
  CHECK(cache.bytes == 1320);
  CHECK(plan.pools[cache.home].name == "dram");
  // If DRAM has only one byte, every byte is a miss. Each byte that a product writes is then written back to PMEM
  // before another byte takes its place in DRAM.
  CHECK(replay(cached("1B")).makespan ==
        Approx(3 * (9.2 + (40 + 800 + 80 + 80) / 10.0 + 5 + (80 + 400 + 20 + 20) / 10.0)));
}

TEST_CASE("an impossible value of `placement` is refused at its key", "[placement]") {
  const auto says = [](const std::string& more, const std::string& workload, const char* dram,
                       const std::string& words) {
    try {
      make_plan(two_products(dram, workload, more));
      FAIL("the placement was not refused");
    } catch (const Error& error) {
      CHECK_THAT(error.what(), Contains(words));
    }
  };
  says("policy: {name: resident, placement: static}\ncost: {model: peak}\n", "batch: 1", "1000B",
       "needs a cost model that counts the bandwidths of memories, but 'peak' does not");
  CHECK_THROWS_WITH(
      two_products("1000B", "batch: 1", "policy: {name: resident, placement: fastest}\n"),
      Contains("'fastest' for 'placement': expected one of: none, auto, static"));
  CHECK_THROWS_WITH(
      two_products("1000B", "batch: 1", "policy: {name: streamed, placement: fastest}\n"),
      Contains("'fastest' for 'placement': expected one of: none, auto, backing, static, "));
  says("policy: {name: streamed, placement: static}\n", "batch: 1", "1000B",
       "needs a device with a second memory of its own: the second memory of 'cpu' is host memory");
  CHECK_THROWS_WITH(two_products("1000B", "batch: 1", "policy: {name: basic, placement: static}\n"),
                    Contains("unknown key 'placement' in policy basic"));
  for (const char* mode : {"inference", "training"}) {
    Value document = two_products("1000B").document;
    apply_overrides(
        document,
        {"policy.placement=cached", std::string("workload={batch: 1, mode: ") + mode + "}",
         "platform={format: sluice-platform/1, name: card, devices: {gpu: {rate: {float32: "
         "1TFLOP/s}, memory: {capacity: 1MB, bandwidth: 1GB/s}}}, memories: {host: {capacity: "
         "1MB}}, links: {pcie: {joins: [host, gpu], bandwidth: 1MB/s}}}"});
    CHECK_THROWS_WITH(make_plan(read_scenario(document, "far")),
                      Contains("'gpu' reaches 'host' only over a link"));
  }
  says("policy: {name: streamed, placement: backing}\n", "batch: 1", "1000B",
       "the second memory of 'cpu' is host memory, where the tensors that take turns already have");
}

}  // namespace
}  // namespace sluice
