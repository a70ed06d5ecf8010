// Tests runs in which tensors move between two memories during a round.
#include <catch2/catch.hpp>

#include <algorithm>

#include "base/never.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "run/isolated.hpp"
#include "scenario/scenario.hpp"
#include "support/campaign.hpp"
#include "support/random_chain.hpp"

namespace sluice {
namespace {

double seconds_of(const Plan& plan) {
  check(plan);
  const double replayed = replay(plan).makespan;
  CHECK(execute_isolated(plan).report.makespan == Approx(replayed).epsilon(1e-9));
  return replayed;
}

/// For each letter, returns a dense layer of 10 features without a bias. Layers with the same letter share their
/// weights of 400 bytes.
std::string layers(const std::string& letters) {
  std::string text = "    - {type: input, name: x, shape: [10]}\n";
  for (std::size_t l = 0; l < letters.size(); ++l) {
    const char letter = letters[l];
    const std::size_t first = letters.find(letter);
    text += "    - {type: dense, name: " + std::string(1, letter) + std::to_string(l) +
            ", features: 10, bias: false";
    if (first < l) text += ", tied: " + std::string(1, letter) + std::to_string(first);
    text += "}\n";
  }
  return text;
}

std::string scenario_text(const std::string& letters, const std::string& platform,
                          const std::string& workload) {
  return "format: sluice-scenario/1\nmodel:\n  definition:\n    format: sluice-model/1\n    name: "
         "tied\n    layers:\n" +
         layers(letters) + platform + "stages: per_layer\nworkload: {" + workload + "}\n";
}

Plan placed(const std::string& text, const std::string& way, std::int64_t dram,
            const std::string& fates = "") {
  Value document = parse_text(text, "moves.yaml");
  apply_overrides(document, {"policy={name: resident, placement: " + way + "}"});
  if (!fates.empty()) apply_overrides(document, {"fates=" + fates});
  const bool shared = document.find("platform")->find("memories")->find("dram") != nullptr;
  apply_overrides(document, {(shared ? "platform.memories.dram.capacity="
                                     : "platform.devices.gpu.memory.0.capacity=") +
                             std::to_string(dram) + "B"});
  return make_plan(read_scenario(document, "moves"));
}

/// A server whose slow memory `pmem` is also its host memory. `pmem` is read and written at only 10 byte/s.
const std::string server = R"(platform:
  format: sluice-platform/1
  name: server
  devices:
    cpu: {rate: {float32: 1000TFLOP/s}, memory: [dram, pmem]}
  memories:
    dram: {capacity: 600B, bandwidth: 100B/s}
    pmem: {capacity: 40000B, bandwidth: 10B/s}
  links:
    copy: {joins: [dram, pmem], bandwidth: 20B/s}
)";

/// A card whose slow memory `ddr` is a second memory of the device. Kernels read `ddr` at 10 byte/s, but copies from it
/// run at 100 byte/s.
const std::string card = R"(platform:
  format: sluice-platform/1
  name: card
  devices:
    gpu:
      rate: {float32: 1000TFLOP/s}
      memory: [{capacity: 1100B, bandwidth: 100B/s}, {name: ddr, capacity: 1MB, bandwidth: 10B/s}]
  memories: {host: {capacity: 1MB}}
  links:
    host: {joins: [host, gpu], bandwidth: 400B/s}
    far: {joins: [gpu, gpu_ddr], bandwidth: 100B/s}
)";

TEST_CASE(
    "if weights take turns in fast memory by synchronous moves, a run takes the seconds computed by hand",
    "[placement]") {
  // The first three layers share the weights of letter a, and the last three layers share the weights of letter b. Fast
  // memory has room for the weights of only one of these two letters. So each round fetches the weights of both
  // letters, in 40 s each. The image and the answer stay in slow memory. The first layer reads the image there in 4 s,
  // and the last layer writes the answer there in 4 s. Besides, each of these two layers takes (40 + 400) / 100 s. Each
  // of the four other layers takes (40 + 400 + 40) / 100 s. The next image is not copied to fast memory. This copy
  // would run just before the weights of letter b are fetched, and would delay them by 4 s.
  const std::string text = scenario_text("aaabbb", server, "batch: 1, steps: 3");
  const Plan plan = placed(text, "synchronous", 600);
  CHECK(seconds_of(plan) == Approx(3 * (40 + 8.4 + 4.8 + 4.8 + 40 + 4.8 + 4.8 + 8.4)));
  const Fact* const moved = find_fact(plan.facts, "moved_bytes", "to dram");
  REQUIRE(moved != nullptr);
  CHECK(moved->number()->value == 800);
  CHECK(seconds_of(placed(text, "static", 600)) > seconds_of(plan));
}

TEST_CASE(
    "if the copy engine moves weights while kernels run, a run takes the seconds computed by hand",
    "[placement]") {
  const std::string text = scenario_text("aaabbbccc", card, "batch: 1, steps: 3");
  // Layers with the same letter share their weights. Fast memory has room for the activations and for the weights of
  // two of the letters a, b and c. The weights of letter a stay. The weights of letter b are fetched while the device
  // computes with the weights of letter a. Then the weights of letter c take the place of the weights of letter b. The
  // device waits 4 s for them. A layer takes 4.8 s. Before the first round, the 400 bytes of weights of letter a and
  // then the 40 bytes of the image come to fast memory at 300 byte/s. The other 100 byte/s of the link bring weights to
  // slow memory. The last answer leaves at 400 byte/s, in 0.1 s.
  const double begin = 400.0 / 300 + 40.0 / 300, end = 0.1;
  CHECK(seconds_of(placed(text, "asynchronous", 1100)) == Approx(begin + 3 * (9 * 4.8 + 4) + end));
  // Under `synchronous`, the device also waits 4 s while the weights of letter b are fetched.
  CHECK(seconds_of(placed(text, "synchronous", 1100)) == Approx(begin + 3 * (9 * 4.8 + 8) + end));
}

TEST_CASE("weights that were updated in fast memory are saved before they are fetched again",
          "[placement]") {
  const std::string text =
      scenario_text("aaabbb", card,
                    "mode: training, batch: 2, micro_batch: 1, steps: 3, optimizer: momentum, "
                    "backward: per_layer");
  bool saved = false;
  for (const std::int64_t dram : {560, 900, 1500, 2400}) {
    const Plan plan = placed(text, "synchronous", dram, "keep_all");
    INFO(dram);
    CHECK(seconds_of(plan) <= seconds_of(placed(text, "static", dram, "keep_all")) * (1 + 1e-9));
    // The prologue loaded the weights into slow memory. A save writes over these weights, so it allocates no bytes
    // there.
    for (const Action& action : plan.actions)
      if (action.kind == ActionKind::move &&
          plan.pools[action.flows.front().to].name == "gpu_ddr" &&
          plan.tensors[action.flows.front().tensor].tensor_class == TensorClass::weight) {
        saved = true;
        CHECK(action.allocates.empty());
        CHECK(action.uses.back().written);
      }
  }
  CHECK(saved);
}

TEST_CASE("neither a way that may do more nor more memory makes a run with moves slower",
          "[placement][property]") {
  std::size_t moves = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{3}); ++seed) {
    test::Dice dice(seed);
    std::string letters;
    for (std::uint64_t l = 0, count = 3 + dice.below(4); l < count; ++l)
      letters += static_cast<char>('a' + dice.below(3));
    std::sort(letters.begin(), letters.end());
    const bool trains = dice.one_in(2);
    const std::string text = scenario_text(
        letters, dice.one_in(2) ? card : server,
        "batch: 2, micro_batch: 1, steps: " + std::to_string(1 + dice.below(3)) +
            (trains ? ", mode: training, optimizer: momentum, backward: per_layer" : ""));
    static const std::vector<std::string> strategies = {"keep_all", "offload_all", "checkpoint",
                                                        "selective"};
    const std::string fates = trains ? strategies[seed % 4] : "";
    std::int64_t dram = 90;
    double before[3] = {never, never, never};
    for (int n = 0; n < 4; ++n, dram += 100 + static_cast<std::int64_t>(dice.below(1000))) {
      double freer = never;
      std::size_t number = 0;
      for (const char* way : {"static", "synchronous", "asynchronous"}) {
        INFO("seed " << seed << ", " << letters << ", " << way << ", " << dram << " bytes");
        const Plan plan = placed(text, way, dram, fates);
        const double seconds = seconds_of(plan);
        CHECK(seconds <= freer * (1 + 1e-9));
        CHECK(seconds <= before[number] * (1 + 1e-9));
        freer = before[number++] = seconds;
        moves += find_fact(plan.facts, "moved_bytes", "to dram") != nullptr ||
                 find_fact(plan.facts, "moved_bytes", "to gpu") != nullptr;
        // A run without moves has a gap, too.
        const Fact* const gap = find_fact(plan.facts, "placement_gap");
        REQUIRE(gap != nullptr);
        CHECK(gap->number()->value >= 0);
        CHECK(gap->number()->value < 1);
      }
    }
  }
  CHECK(moves > 0);
}

}  // namespace
}  // namespace sluice
