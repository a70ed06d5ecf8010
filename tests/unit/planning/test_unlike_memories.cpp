// Property tests of training on devices that take turns and whose memories have different sizes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/never.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "scenario/scenario.hpp"
#include "support/campaign.hpp"
#include "support/random_chain.hpp"

namespace sluice {
namespace {

using test::Dice;
using Capacities = std::vector<std::int64_t>;

/// A random training of dense layers under `phased` on two or three devices, with memories of different sizes.
class UnlikeMemories {
 public:
  explicit UnlikeMemories(std::uint64_t seed) : dice_(seed) {
    // With overlap, many places of loads are compared, so the model is smaller.
    const bool overlap = dice_.one_in(4);
    overlap_ = overlap ? "true" : "false";
    const std::vector<int> features = {20, 50, 100};
    const auto drawn = [&] { return features[dice_.below(features.size())]; };
    int before = drawn();
    model_ =
        "model:\n  definition:\n    format: sluice-model/1\n    name: m\n    layers:\n"
        "      - {type: input, name: x, shape: [" +
        std::to_string(before) + "]}\n";
    std::int64_t largest = 0;
    for (std::size_t layer = 0, count = overlap ? 2 : 3 + dice_.below(3); layer < count; ++layer) {
      const int next = drawn();
      model_ += "      - {type: dense, name: l" + std::to_string(layer) +
                ", features: " + std::to_string(next) + ", bias: false}\n";
      largest = std::max<std::int64_t>(largest, 4 * before * next);
      before = next;
    }
    batch = static_cast<std::int64_t>(3 + dice_.below(3));
    for (std::size_t d = 0, count = 2 + dice_.below(2); d < count; ++d)
      capacities.push_back(largest * static_cast<std::int64_t>(20 + dice_.below(15)) / 10 + 500 +
                           static_cast<std::int64_t>(d));
    sharing_ = dice_.one_in(3) ? "shared" : "private";
    rules_ = std::string("workload: {mode: training, micro_batch: 1, optimizer: ") +
             (dice_.one_in(2) ? "none" : "sgd") + ", batch: " + std::to_string(batch) +
             "}\nstages: {cut: per_layer}\ncost: {model: peak}\nfates: " +
             (dice_.one_in(2) ? "keep_all" : "offload_all") + "\n";
  }

  std::string text(const Capacities& bytes, const std::string& keys) const {
    std::string devices, joined;
    for (std::size_t d = 0; d < bytes.size(); ++d) {
      const std::string name = "gpu" + std::to_string(d);
      devices += "    " + name +
                 ": {rate: {float32: 1GFLOP/s}, memory: {capacity: " + std::to_string(bytes[d]) +
                 "B}}\n";
      joined += ", " + name;
    }
    return "format: sluice-scenario/1\n" + model_ +
           "platform:\n  format: sluice-platform/1\n  name: small\n  devices:\n" + devices +
           "  memories: {host: {capacity: unlimited}}\n  links: {host: {joins: [host" + joined +
           "], bandwidth: 200MB/s, sharing: " + sharing_ + "}}\n" + rules_ +
           "policy: {name: phased, overlap: " + overlap_ + keys + "}\n";
  }

  /// Returns the seconds of the run, or infinity if it does not fit.
  double seconds(const Capacities& bytes, const std::string& keys = "") const try {
    const Plan plan = make_plan(read_scenario(parse_text(text(bytes, keys), "unlike.yaml"), "m"));
    check(plan);
    return replay(plan).makespan;
  } catch (const Infeasible&) {
    return never;
  }

  /// Returns the capacities, of which one or all are larger by up to a half, or the smallest is as large as the greatest.
  Capacities more(Capacities bytes) {
    if (dice_.one_in(4)) {
      *std::ranges::min_element(bytes) = std::ranges::max(bytes);
      return bytes;
    }
    const bool all = dice_.one_in(2);
    const std::size_t one = dice_.below(bytes.size());
    for (std::size_t d = 0; d < bytes.size(); ++d)
      if (all || d == one)
        bytes[d] += bytes[d] * static_cast<std::int64_t>(1 + dice_.below(50)) / 100;
    return bytes;
  }

  std::int64_t batch = 0;
  Capacities capacities;

 private:
  Dice dice_;
  std::string model_, sharing_, rules_, overlap_;
};

TEST_CASE(
    "with unlike memories, training with more memory on some devices is never slower or refused",
    "[property]") {
  int faster = 0;
  for (int number = 0; number < test::cases_of(12, 40); ++number) {
    UnlikeMemories drawn(7100 + static_cast<std::uint64_t>(number));
    Capacities bytes = drawn.capacities;
    double before = never;
    for (int rise = 0; rise < 5; ++rise, bytes = drawn.more(bytes)) {
      INFO(number << "\n" << drawn.text(bytes, ""));
      const double now = drawn.seconds(bytes);
      CHECK(now <= before * (1 + 1e-9));
      faster += now < before * (1 - 1e-9) && before < never ? 1 : 0;
      before = now;
    }
  }
  CHECK(faster > 0);
}

TEST_CASE("with unlike memories, open choices are not slower than given numbers in flight",
          "[property]") {
  int compared = 0;
  for (int number = 0; number < test::cases_of(10, 40); ++number) {
    const UnlikeMemories drawn(7200 + static_cast<std::uint64_t>(number));
    const double open = drawn.seconds(drawn.capacities);
    for (const std::string stay : {"", ", resident: none", ", resident: all"})
      for (const std::int64_t count : {std::int64_t{1}, drawn.batch / 2, drawn.batch}) {
        const std::string keys = ", in_flight: " + std::to_string(count) + stay;
        INFO(number << "\n" << drawn.text(drawn.capacities, keys));
        const double given = drawn.seconds(drawn.capacities, keys);
        if (given == never) continue;
        CHECK(open <= given * 1.01);
        ++compared;
      }
  }
  CHECK(compared > 10);
}

// Before, ways with a different number of bytes on each device were left out for equal first memories, and the run with
// 2080101 B on both devices took 22.47 instead of 19.97 ms.
TEST_CASE("with two memories per device, memories that become equal do not make a run slower") {
  const auto seconds = [](const std::string& bytes) {
    const auto device = [](const std::string& name, const std::string& first) {
      return name + ": {rate: {float32: 20GFLOP/s}, memory: [{capacity: " + first +
             ", bandwidth: 20GB/s}, {name: ddr, capacity: unlimited, bandwidth: 1GB/s}]}";
    };
    std::string layers = "{type: input, name: x, shape: [180]}";
    for (const std::string features : {"429", "233", "457", "403", "480", "428"})
      layers += ", {type: dense, name: l" + features + ", features: " + features + ", bias: false}";
    const std::string text =
        "format: sluice-scenario/1\n"
        "model: {definition: {format: sluice-model/1, name: m, layers: [" + layers + "]}}\n"
        "platform:\n  format: sluice-platform/1\n  name: small\n  devices: {" +
        device("gpu0", bytes) + ", " + device("gpu1", "2080101B") + "}\n"
        "  memories: {host: {capacity: unlimited}}\n"
        "  links:\n"
        "    host: {joins: [host, gpu0, gpu1], bandwidth: 1GB/s, latency: 7us, duplex: half, sharing: private}\n"
        "    far0: {joins: [gpu0, gpu0_ddr], bandwidth: 100MB/s, latency: 7us}\n"
        "    far1: {joins: [gpu1, gpu1_ddr], bandwidth: 100MB/s, latency: 7us}\n"
        "workload: {batch: 2, micro_batch: 1, batches_per_step: 2, steps: 2, mode: training, optimizer: sgd}\n"
        "stages: per_layer\n"
        "policy: {name: phased, placement: none}\n";
    const Plan plan = make_plan(read_scenario(parse_text(text, "two.yaml"), "m"));
    check(plan);
    return replay(plan).makespan;
  };
  const double unlike = seconds("1976096B");
  CHECK(unlike == Approx(0.01997).epsilon(0.001));
  CHECK(seconds("2080101B") <= unlike * (1 + 1e-9));
}

}  // namespace
}  // namespace sluice
