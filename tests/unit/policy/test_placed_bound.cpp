// Tests the lower bound of runs whose tensors are placed in two memories. A run must not be faster than its bound.
#include <catch2/catch.hpp>

#include <algorithm>

#include "base/never.hpp"
#include "document/load.hpp"
#include "placement/optimum.hpp"
#include "planning/placement/placed_bound.hpp"
#include "planning/placement/placed_candidates.hpp"
#include "planning/placement/placed_draft.hpp"
#include "planning/run_seconds.hpp"
#include "scenario/scenario.hpp"
#include "support/campaign.hpp"
#include "support/random_chain.hpp"

namespace sluice {
namespace {

/// Returns a scenario for a card with two memories: HBM with 1 GB/s and DDR with 600 MB/s. A link joins the card and
/// host memory.
Scenario on_card(const std::string& layers, const std::string& hbm, const std::string& links,
                 const std::string& workload) {
  return read_scenario(
      parse_text("format: sluice-scenario/1\nmodel:\n  definition:\n    format: sluice-model/1\n"
                 "    name: dense\n    layers:\n    - {type: input, name: x, shape: [1]}\n" +
                     layers +
                     "platform:\n  format: sluice-platform/1\n  name: card\n  devices:\n    gpu:\n"
                     "      rate: {float32: 1GFLOP/s}\n      memory:\n      - {capacity: " +
                     hbm +
                     ", bandwidth: 1GB/s}\n"
                     "      - {name: ddr, capacity: unlimited, bandwidth: 600MB/s}\n"
                     "  memories: {host: {capacity: unlimited}}\n  links:\n" +
                     links + "policy: {name: resident}\nworkload: {mode: training, " + workload +
                     "}\n",
                 "card.yaml"),
      "card");
}

PolicyRequest request_with(const Scenario& scenario, const CutModel& cut,
                           const std::string& fates) {
  PolicyRequest request = request_of(scenario, cut, plain_fates(fate_catalog().find(fates)));
  request.capacity_enforced = false;
  return request;
}

TEST_CASE("the bound of a placed run counts the loads before the kernels", "[placement]") {
  // Each of the two layers has 8 bytes of weights, and the image has 4 bytes. Each forward pass reads and writes 16
  // bytes. One backward pass reads and writes 28 bytes, and the other one 24 bytes. Each update reads and writes 24
  // bytes. In HBM, a byte takes 1 ns.
  const Scenario scenario = on_card(
      "    - {type: dense, name: one, features: 1}\n    - {type: dense, name: two, features: 1}\n",
      "unlimited",
      "    host: {joins: [host, gpu], bandwidth: 1GB/s, latency: 5ns, setup: 100ns}\n"
      "    far: {joins: [gpu, gpu_ddr], bandwidth: 10GB/s, setup: 100ns}\n",
      "batch: 1, steps: 3, optimizer: sgd");
  const double round = 2 * (16 + 24) + 28 + 24;
  const CutModel cut = cut_models(scenario).front();
  const PolicyRequest request = request_with(scenario, cut, "keep_all");
  const auto bound = [&](bool overlap, PlacedQuestion::SlowOnlyKinds slow_only) {
    const CommonParameters common{scenario.platform.device("gpu"), "host", overlap, 1, true};
    const PlacedQuestion asked(request, common, placed_fates(request, common), "tested", slow_only);
    return 1e9 * PlacedBound(asked, request, common).seconds();
  };
  // Without overlap, the weights of each layer are loaded once, and an image is loaded in each of the three steps. A
  // load into HBM takes 105 ns, and 1 ns more per byte.
  CHECK(bound(false, {}) == Approx(2 * (105 + 8) + 3 * (105 + 4) + 3 * round));
  // If images must be in DDR, the load of an image takes 205 ns, and 1 ns more per byte.
  CHECK(bound(false, {.inputs = true}) == Approx(2 * (105 + 8) + 3 * (205 + 4) + 3 * round));
  // With overlap, one copy engine loads the three images into DDR. Each load takes 204 ns, and the image arrives 5 ns
  // later. Meanwhile, another copy engine loads the weights into HBM. The last round begins after the last image has
  // arrived.
  CHECK(bound(true, {.inputs = true}) == Approx(3 * 204 + 5 + round));
}

/// Returns a scenario with layers of random widths, on a card whose links have random times.
Scenario random_card(test::Dice& dice) {
  const auto number = [&](std::uint64_t least, std::uint64_t most) {
    return std::to_string(least + dice.below(most - least + 1));
  };
  std::string layers;
  for (std::uint64_t l = 0, count = 1 + dice.below(3); l < count; ++l)
    layers +=
        "    - {type: dense, name: d" + std::to_string(l) + ", features: " + number(1, 40) + "}\n";
  const auto link = [&](const std::string& name, const std::string& joins) {
    return "    " + name + ": {joins: " + joins + ", bandwidth: " + number(1, 20) +
           "00MB/s, latency: " + number(0, 3) + "us, setup: " + number(0, 3) + "us}\n";
  };
  return on_card(layers, dice.one_in(2) ? "unlimited" : number(400, 9000) + "B",
                 link("host", "[host, gpu]") + link("far", "[gpu, gpu_ddr]"),
                 "batch: " + number(1, 3) + ", micro_batch: 1, steps: " + number(1, 3) +
                     ", optimizer: " + (dice.one_in(2) ? "sgd" : "none"));
}

TEST_CASE(
    "no placed run is faster than its bound, and the judge finds the fastest of all placed runs",
    "[placement][property]") {
  const std::vector<std::string> ways = {"static", "first_touch", "all_slow"};
  int runs = 0, ruled_out = 0, repeated = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{5}); ++seed) {
    test::Dice dice(seed);
    const Scenario scenario = random_card(dice);
    const bool overlap = !dice.one_in(4);
    const CommonParameters common{scenario.platform.device("gpu"), "host", overlap, 1, true};
    const std::vector<CutModel> cuts = cut_models(scenario);
    std::vector<PolicyRequest> requests;
    for (const CutModel& cut : cuts)
      for (const FateStrategy* strategy : fate_catalog().entries())
        if (strategy->compared) {
          requests.push_back(request_with(scenario, cut, strategy->name));
          requests.back().fates_open = true;
        }
    std::vector<Candidate> all;
    for (const PolicyRequest& request : requests)
      for (Candidate& one : placed_candidates(request, common, "tested", ways))
        if (one.simulate) all.push_back(std::move(one));
    double fastest = never;
    for (const Candidate& one : all)
      one.simulate(never, [&](const Settled& settled) {
        INFO("seed " << seed << ", " << settled.text);
        ++runs;
        CHECK(one.at_least <= settled.seconds * (1 + 1e-9));
        fastest = std::min(fastest, settled.seconds);
      });
    for (const Candidate& one : all) ruled_out += one.at_least > fastest ? 1 : 0;
    repeated += static_cast<int>(all.size());
    INFO("seed " << seed);
    const Judgement judgement = judge(all);
    CHECK(judgement.best.seconds == fastest);
    repeated -= static_cast<int>(judgement.simulated);
  }
  CHECK(runs > 100);
  CHECK(ruled_out > 10);
  CHECK(repeated > ruled_out);
}

/// Returns a scenario for a card whose slow memory is host memory. The card reaches host memory without a link, or only
/// over the link. Of two layers without biases, the outputs have 4 and 12 bytes.
Scenario beside_host(const std::string& memory, const std::string& host, const std::string& link,
                     const std::string& workload) {
  return read_scenario(
      parse_text(
          "format: sluice-scenario/1\nmodel:\n  definition:\n    format: sluice-model/1\n"
          "    name: dense\n    layers:\n    - {type: input, name: x, shape: [1]}\n"
          "    - {type: dense, name: one, features: 1, bias: false}\n"
          "    - {type: dense, name: two, features: 3, bias: false}\n"
          "platform:\n  format: sluice-platform/1\n  name: card\n  devices:\n"
          "    gpu: {rate: {float32: 1TFLOP/s}, memory: " +
              memory +
              "}\n  memories: {dram: {capacity: unlimited, read: 1GB/s, write: 1GB/s}, host: " +
              host + "}\n  links: {host: {joins: [host, dram], " + link +
              "}}\npolicy: {name: resident}\nworkload: {" + workload + "}\n",
          "card.yaml"),
      "card");
}

TEST_CASE("if slow memory is host memory, the bound counts copies or slower kernels",
          "[placement]") {
  const auto bound = [&](bool overlap, const std::string& link) {
    const Scenario scenario =
        beside_host("[dram, host]", "{capacity: unlimited, read: 100MB/s, write: 100MB/s}", link,
                    "batch: 1, steps: 10");
    const CutModel cut = cut_models(scenario).front();
    const PolicyRequest request = request_of(scenario, cut, {});
    const CommonParameters common{scenario.platform.device("gpu"), "host", overlap, 1, true};
    const PlacedQuestion asked(request, common, {}, "tested", {});
    return 1e9 * PlacedBound(asked, request, common).seconds();
  };
  // In DRAM, the forward passes read and write 4 + 4 + 4 and 4 + 12 + 12 bytes, at 1 ns per byte. In host memory, each
  // of these bytes takes 9 ns more. The inputs of ten rounds have 40 bytes, and the weights have 4 and 12 bytes.
  const double kernels = 10 * (12 + 28);
  // A copy over a link of 50 MB/s takes 20 ns per byte. Over a faster link, it takes 10 ns per byte, because host
  // memory has only 100 MB/s. Without overlap, inputs are not copied, because kernels use them only once. Weights are
  // copied once.
  CHECK(bound(false, "bandwidth: 50MB/s") == Approx(kernels + 40 * 9 + 16 * 20));
  CHECK(bound(false, "bandwidth: 500MB/s") == Approx(kernels + 40 * 9 + 16 * 10));
  // With overlap, copies run beside kernels. If x bytes of the inputs are copied over the slow link, the copies take 20
  // (16 + x) ns and the kernels 400 + 9 (40 - x) ns. Both are equal for x = 440 / 29. For the fast link, x is 600 / 19.
  CHECK(bound(true, "bandwidth: 50MB/s") == Approx(20 * (16 + 440.0 / 29)).epsilon(1e-6));
  CHECK(bound(true, "bandwidth: 500MB/s") == Approx(10 * (16 + 600.0 / 19)).epsilon(1e-6));
}

TEST_CASE("no placed run is faster than its bound if slow memory is host memory",
          "[placement][property]") {
  int runs = 0, close = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of<std::uint64_t>(4, 12); ++seed) {
    test::Dice dice(seed);
    const auto number = [&](std::uint64_t least, std::uint64_t most) {
      return std::to_string(least + dice.below(most - least + 1));
    };
    const bool trains = dice.one_in(2);
    const bool behind_link = dice.one_in(3);
    const Scenario scenario =
        beside_host(behind_link ? "dram" : "[dram, host]",
                    "{capacity: unlimited, read: " + number(1, 20) +
                        "00MB/s, write: " + number(1, 20) + "00MB/s}",
                    "bandwidth: " + number(1, 20) + "00MB/s, setup: " + number(0, 20) + "ns" +
                        (dice.one_in(3) ? ", duplex: half" : "") +
                        (dice.one_in(3) ? ", synchronous: {bandwidth: 3GB/s}" : ""),
                    std::string(trains ? "mode: training, optimizer: sgd, micro_batch: 1, " : "") +
                        "batch: " + number(1, 3) + ", steps: " + number(1, 4));
    const CommonParameters common{scenario.platform.device("gpu"), "host", !dice.one_in(4), 1,
                                  dice.one_in(2)};
    for (const CutModel& cut : cut_models(scenario)) {
      double cached_s = 0;  // with keep_all
      for (const char* fates : {"keep_all", "offload_all"})
        for (const std::string way :
             {"static", "all_slow", "synchronous", "asynchronous", "cached"}) {
          const bool cached = way == "cached";
          if (!trains && std::string(fates) != "keep_all") continue;
          if (cached && behind_link) continue;
          PolicyRequest request = request_with(scenario, cut, fates);
          INFO("seed " << seed << ", " << fates << ", " << way);
          const FateChoice chosen = placed_fates(request, common);
          const double least = PlacedBound(PlacedQuestion(request, common, chosen, "tested", {}),
                                           request, common, cached)
                                   .seconds();
          const auto draft = placed_draft({request, common, chosen, "tested", way});
          REQUIRE(draft);
          const double seconds = run_seconds(finish(draft->draft, request));
          CHECK(least <= seconds * (1 + 1e-9));
          ++runs;
          close += least > 0.9 * seconds ? 1 : 0;
          // An offloaded tensor is in slow memory, like every tensor behind a cache. So nothing is copied.
          if (!cached) continue;
          if (cached_s > 0) CHECK(seconds == cached_s);
          cached_s = seconds;
        }
    }
  }
  CHECK(runs > 20);
  CHECK(close > runs / 8);
}

TEST_CASE("a placed run that is too slow can still be the runner-up", "[placement]") {
  const Scenario scenario =
      beside_host("[dram, host]", "{capacity: unlimited, read: 100MB/s, write: 100MB/s}",
                  "bandwidth: 500MB/s", "mode: training, optimizer: sgd, batch: 1, steps: 2");
  const CutModel cut = cut_models(scenario).front();
  const PolicyRequest request = request_with(scenario, cut, "keep_all");
  const CommonParameters common{scenario.platform.device("gpu"), "host", true, 1, true};
  int ways = 0;
  for (const Candidate& one : placed_candidates(request, common, "tested", {"asynchronous"}))
    one.simulate(1e-12, [&ways](const Settled& way) {
      ++ways;
      CHECK(way.seconds > 1e-12);
      CHECK(way.seconds < never);
    });
  CHECK(ways > 0);
}

TEST_CASE("no run whose tensors move is faster than its rounds are on average",
          "[placement][property]") {
  int runs = 0, reached = 0;
  for (std::uint64_t seed = 100; seed < 100 + test::cases_of(std::uint64_t{8}); ++seed) {
    test::Dice dice(seed);
    const Scenario scenario = random_card(dice);
    const CommonParameters common{scenario.platform.device("gpu"), "host", true, 1, true};
    const CutModel cut = cut_models(scenario).back();
    const PolicyRequest request = request_with(scenario, cut, "keep_all");
    const FateChoice fates = placed_fates(request, common);
    const PlacedQuestion asked(request, common, fates, "tested", {});
    // In a round, the tensors of a run occupy at most these bytes of fast memory.
    const std::int64_t bytes = std::min(asked.room(), asked.question().peak());
    if (bytes < 0) continue;
    const double mean_s =
        overlapped_optimum({.question = asked.question(), .capacity = bytes}).round_bound;
    const double least = PlacedBound(asked, request, common).seconds_of_rounds(mean_s);
    const auto draft = placed_draft({request, common, fates, "tested", "asynchronous"});
    REQUIRE(draft);
    const double seconds = run_seconds(finish(draft->draft, request));
    INFO("seed " << seed);
    CHECK(least <= seconds * (1 + 1e-9));
    ++runs;
    reached += least > 0.5 * seconds ? 1 : 0;
  }
  CHECK(runs > 4);
  CHECK(reached > 1);
}

}  // namespace
}  // namespace sluice
