// Tests the lower bounds of runs in which several devices run replicas of another policy. Replicas share links, and sum
// their gradients over a ring.
#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "document/load.hpp"
#include "planning/run_seconds.hpp"
#include "policy/policy.hpp"
#include "policy/settle/ring_seconds.hpp"
#include "scenario/scenario.hpp"
#include "support/campaign.hpp"
#include "support/random_case.hpp"

namespace sluice {
namespace {

using test::Dice;
using test::RandomCase;

/// Returns a random case of training with replicas on two to four devices, and with a cut into one or several stages. If
/// two devices have no link between them, their gradients go over the links of other devices or of host memory.
RandomCase random_replicas(Dice& dice, const std::string& policy) {
  RandomCase made = test::random_case(dice, "data_parallel " + policy, /*training=*/true);
  const std::vector<std::string> latencies = {"0us", "9us", "400us"}, duplexes = {"full", "half"};
  const int devices = 2 + static_cast<int>(dice.below(3));
  made.machine.push_back("platform.devices.gpu.count=" + std::to_string(devices));
  made.machine.push_back("workload.batch=" + std::to_string(made.batches / 2 * devices));
  for (int k = 1; k < devices && devices > 2; ++k)
    if (dice.one_in(2))
      made.machine.push_back("platform.links.pair" + std::to_string(k) + "={joins: [gpu" +
                             std::to_string(k) + ", gpu" + std::to_string((k + 1) % devices) +
                             "], bandwidth: 500MB/s, latency: " + latencies[dice.below(3)] + "}");
  made.machine.push_back("platform.links.pair.setup=" + latencies[dice.below(3)]);
  made.machine.push_back("platform.links.pair.latency=" + latencies[dice.below(3)]);
  made.machine.push_back("platform.links.pair.duplex=" + duplexes[dice.below(2)]);
  made.machine.push_back("platform.links.host.duplex=" + duplexes[dice.below(2)]);
  made.cut = dice.one_in(3) ? "stages: {cut: whole}\n" : "stages: {cut: per_layer}\n";
  const std::vector<std::string> ways = {"overlapped", "after", "off"};
  made.keys += ", all_reduce: " + ways[dice.below(3)];
  return made;
}

TEST_CASE("no training of replicas takes fewer seconds than its bound", "[property]") {
  const std::vector<std::string> fates = {"keep_all", "offload_all", "sqrt", "recompute_all"};
  int compared = 0, reached = 0;
  Dice dice(2029);
  for (const std::string policy : {"streamed", "resident", "phased"})
    for (int c = 0; c < test::cases_of(12); ++c) {
      RandomCase made = random_replicas(dice, policy);
      made.fates = "fates: {strategy: " + fates[dice.below(fates.size())] + "}\n";
      for (const char* transfers : {"together", "in_turn"}) {
        const std::string text =
            made.text_with(made.cut, made.fates, std::string(", transfers: ") + transfers);
        INFO(policy << " case " << c << "\n" << text);
        const Scenario scenario = test::small_scenario(made.input, made.rows, text, made.machine);
        const CutModel cut = cut_models(scenario).front();
        PolicyRequest request = request_of(scenario, cut, scenario.fates);
        request.fates_open = true;
        const Reader& parameters = scenario.policy.keys.reader();
        const double least = scenario.policy->at_least(request, parameters)(parameters);
        const double seconds =
            run_seconds(finish(scenario.policy->plan(request, parameters), request));
        CHECK(least > 0);
        CHECK(least <= seconds);
        ++compared;
        reached += seconds <= least * (1 + 1e-3) ? 1 : 0;
      }
    }
  CHECK(compared >= 72);
  CHECK(reached > compared / 20);
}

/// Returns a random value for each choice of streamed inference that `made` leaves open, except for `in_flight`.
std::string random_keys(Dice& dice, const RandomCase& made) {
  const auto one_of = [&dice](const std::vector<std::string>& values) {
    return values[dice.below(values.size())];
  };
  std::string keys =
      ", pieces: " + one_of({"whole", "20kB"}) + ", resident: " + one_of({"none", "all"}) +
      ", buffers: " + one_of({"1", "3", "8"}) + ", transfers: " + one_of({"together", "in_turn"});
  if (made.keys.find("overlap: false") == std::string::npos)
    keys += ", prefetch: " + one_of({"1", "4"});
  return keys;
}

TEST_CASE("no streamed inference of replicas takes fewer seconds than the bounds of its choices",
          "[property]") {
  int compared = 0, near = 0;
  Dice dice(2031);
  for (int c = 0; c < test::cases_of(40); ++c) {
    RandomCase made = test::random_case(dice, "data_parallel streamed", false);
    if (made.keys.find("overlap") == std::string::npos) made.keys += ", overlap: true";
    made.batches = 2 * (1 + static_cast<std::int64_t>(dice.below(8)));
    made.workload = "workload: {batches_per_step: " + std::to_string(made.batches) +
                    ", steps: " + std::to_string(1 + dice.below(3)) + "}\n";
    made.machine.push_back("platform.links.host.sharing=shared");
    made.machine.push_back("platform.links.host.duplex=" +
                           std::string(dice.one_in(2) ? "full" : "half"));
    const std::string cut_text =
        dice.one_in(3) ? "stages: {cut: whole}\n" : "stages: {cut: per_layer}\n";
    const std::string fates = dice.one_in(2) ? "fates: keep_all\n" : "fates: offload_all\n";
    const std::string in_flight =
        ", in_flight: " +
        std::to_string(1 + dice.below(static_cast<std::uint64_t>(made.batches / 2)));
    const std::string text = made.text_with(cut_text, fates, in_flight);
    const Scenario open = test::small_scenario(made.input, made.rows, text, made.machine);
    const CutModel cut = cut_models(open).front();
    const PolicyRequest request = request_of(open, cut, open.fates);
    const std::vector<Candidate> candidates =
        open.policy->candidates(request, open.policy.keys.reader());
    if (candidates.empty()) continue;  // nothing is open
    const double least = std::ranges::min(candidates, {}, &Candidate::at_least).at_least;
    const std::string settings =
        made.text_with(cut_text, fates, in_flight + random_keys(dice, made));
    INFO("case " << c << "\n" << settings);
    const double seconds =
        run_seconds(make_plan(test::small_scenario(made.input, made.rows, settings, made.machine)));
    CHECK(least <= seconds);
    ++compared;
    near += seconds <= least * 1.1 ? 1 : 0;
  }
  CHECK(compared > 20);
  CHECK(near > compared / 10);
}

/// The lower bound of a run of training with two replicas, and its seconds. The replicas share a link of 1 GB/s to host
/// memory. The link between the devices has 2 GB/s in each direction. Each replica has one sample of the batch.
struct BoundedRun {
  double at_least = 0, seconds = 0;
};
BoundedRun trained_by_two(const std::string& cut, const std::string& keys) {
  const Scenario scenario = test::small_scenario(
      400, {{2, 1'000'000, 400}, {1, 500'000, 400}},
      "workload: {mode: training, batch: 2, micro_batch: 1, optimizer: sgd}\nstages: {cut: " + cut +
          "}\nfates: keep_all\npolicy: {name: data_parallel, replica: streamed, " + keys + "}\n",
      {"platform.devices.gpu.count=2", "platform.links.host.sharing=shared",
       "platform.links.pair={joins: [gpu0, gpu1], bandwidth: 2GB/s}"});
  const CutModel made = cut_models(scenario).front();
  const PolicyRequest request = request_of(scenario, made, scenario.fates);
  const Reader& parameters = scenario.policy.keys.reader();
  return {scenario.policy->at_least(request, parameters)(parameters),
          run_seconds(finish(scenario.policy->plan(request, parameters), request))};
}

TEST_CASE("the bound of replicas counts shared links and the sums of gradients") {
  for (const char* overlap : {"true", "false"}) {
    const std::string keys = std::string("overlap: ") + overlap;
    INFO(keys);
    // The weights have 1.5 MB, and stay on the device. The link carries them for both replicas in 3 ms. The forward pass
    // takes 3 ms, the backward pass 6 ms. Then each device sends two pieces of 0.75 MB to the other device, in 0.75 ms.
    // The update needs 2 FLOP for each of 375000 weights, and takes 0.75 ms. Inputs have only a few hundred bytes.
    const BoundedRun summed = trained_by_two("whole", keys + ", all_reduce: after");
    CHECK(summed.at_least == Approx(0.0135).epsilon(1e-3));
    CHECK(summed.seconds == Approx(0.0135).epsilon(1e-3));
    // Without the sums of gradients, the run ends 0.75 ms sooner.
    const BoundedRun off = trained_by_two("whole", keys + ", all_reduce: \"off\"");
    CHECK(off.at_least == Approx(0.01275).epsilon(1e-3));
    CHECK(off.seconds == Approx(0.01275).epsilon(1e-3));
  }
}

TEST_CASE("the bound of replicas counts the first loads and the last saves of all of them") {
  // The weights of two stages take turns. The first computation waits 2 ms, until the link has carried the weights of the
  // first stage for both replicas. All computations take 9.75 ms. After the last update, each replica saves 1 MB.
  const BoundedRun off = trained_by_two("per_layer", "resident: none, all_reduce: \"off\"");
  CHECK(off.at_least == Approx(0.01275).epsilon(1e-3));
  CHECK(off.at_least <= off.seconds);
  // Before each of the two updates, the gradients of its stage are summed, in 0.25 and 0.5 ms. When both replicas have
  // completed their gradients, 11.25 ms have passed: the first load, all passes, and the sums and the update of the second
  // stage. The update of the first stage takes 0.5 ms, and the link then carries the saves of both replicas in 2 ms. The
  // bound counts the sums of both stages instead of those of the second stage, so it counts 0.75 ms less for the saves.
  const BoundedRun summed = trained_by_two("per_layer", "resident: none, all_reduce: after");
  CHECK(summed.at_least == Approx(0.01375).epsilon(1e-3));
  CHECK(summed.at_least <= summed.seconds);
}

TEST_CASE("the bound of summed gradients counts how long a copy engine waits for pieces") {
  // Two stages have 0.6 and 1.2 MB of gradients. Three devices are connected in a ring, with 2 GB/s. So pieces of 0.2 and
  // 0.4 MB take 0.1 and 0.2 ms.
  const auto least = [](const std::string& latency) {
    const Scenario scenario = test::small_scenario(
        400, {{2, 600'000, 400}, {1, 1'200'000, 400}},
        "workload: {mode: training, batch: 3, micro_batch: 1, optimizer: sgd}\n"
        "stages: {cut: per_layer}\nfates: keep_all\n"
        "policy: {name: data_parallel, replica: streamed, transfers: together}\n",
        {"platform.devices.gpu.count=3",
         "platform.links.pair0={joins: [gpu0, gpu1], bandwidth: 2GB/s, latency: " + latency + "}",
         "platform.links.pair1={joins: [gpu1, gpu2], bandwidth: 2GB/s}",
         "platform.links.pair2={joins: [gpu2, gpu0], bandwidth: 2GB/s}"});
    const CutModel cut = cut_models(scenario).front();
    const PolicyRequest request = request_of(scenario, cut, scenario.fates);
    const double seconds = all_reduce_seconds(request, {"gpu0", "gpu1", "gpu2"});
    const Plan plan =
        finish(scenario.policy->plan(request, scenario.policy.keys.reader()), request);
    CHECK(seconds <= run_seconds(plan));
    return seconds;
  };
  // Each device sends four pieces of each stage.
  CHECK(least("0ms") == Approx(4 * (0.1e-3 + 0.2e-3)));
  // A device sends its fourth piece of a stage after its first piece has been around the ring. This takes three hops, of
  // which one has a latency of 10 ms. The fourth piece itself takes one hop without its latency.
  CHECK(least("10ms") == Approx(20e-3 + 4 * (0.1e-3 + 0.2e-3)));
}

TEST_CASE("the bound of summed gradients counts the gradients of tied weights once") {
  // Both stages use the same 90000 weights. The policy `resident` has one gradient of 360 kB for them, so each device sends
  // two pieces of 180 kB over a link of 1 GB/s.
  const Scenario scenario = read_scenario(
      parse_text(
          "format: sluice-scenario/1\n"
          "model: {definition: {format: sluice-model/1, name: tied, layers: ["
          "{type: input, name: x, shape: [300]}, "
          "{type: dense, name: a, features: 300, bias: false}, "
          "{type: dense, name: b, features: 300, bias: false, tied: a}]}}\n"
          "platform:\n"
          "  format: sluice-platform/1\n"
          "  name: pair\n"
          "  devices: {gpu: {count: 2, rate: {float32: 1GFLOP/s}, memory: {capacity: 1GB}}}\n"
          "  memories: {host: {capacity: unlimited}}\n"
          "  links: {host: {joins: [host, gpu], bandwidth: 1GB/s}, "
          "pair: {joins: [gpu0, gpu1], bandwidth: 1GB/s}}\n"
          "stages: per_layer\nfates: keep_all\n"
          "workload: {mode: training, batch: 2, micro_batch: 1, optimizer: none}\n"
          "policy: {name: data_parallel, replica: resident}\n",
          "tied.yaml"),
      "tied");
  const CutModel cut = cut_models(scenario).front();
  REQUIRE(cut.stages.size() == 2);
  CHECK(cut.stages[1].tied_bytes == 360'000);
  const PolicyRequest request = request_of(scenario, cut, scenario.fates);
  CHECK(all_reduce_seconds(request, {"gpu0", "gpu1"}) == Approx(2 * 180e-6));
  const Plan plan = finish(scenario.policy->plan(request, scenario.policy.keys.reader()), request);
  CHECK(plan.collectives.size() == 1);
  CHECK(all_reduce_seconds(request, {"gpu0", "gpu1"}) <= run_seconds(plan));
}

}  // namespace
}  // namespace sluice
