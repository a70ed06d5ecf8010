// Random scenarios under the policies phased, sharded and streamed with one to three devices. Each device has two
// memories.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "document/load.hpp"
#include "planning/placement/turns/placed_prices.hpp"
#include "policy/policy.hpp"
#include "scenario/scenario.hpp"
#include "support/random_chain.hpp"
#include "support/two_memory_card.hpp"

namespace sluice::test {

/// A random scenario. The devices are alike or unlike, and their second memories may be the same memory. Each memory
/// has a link of its own to host memory, or several memories share links.
class RandomDevices {
 public:
  explicit RandomDevices(std::uint64_t seed, bool training_too = true) : dice_(seed) {
    sharded_ = dice_.one_in(2);
    count_ = 1 + dice_.below(3);
    const bool training = training_too && !sharded_ && dice_.one_in(2);
    add_model();
    text_ += "stages: " + std::string(dice_.one_in(3) ? "whole" : "per_layer") + "\n";
    if (training)
      add_training();
    else
      text_ += "workload: {batch: " + number(dice_, 1, 3) +
               ", batches_per_step: " + number(dice_, 1, 3) + ", steps: " + number(dice_, 1, 3) +
               "}\n";
    if (!sharded_ && !training)
      phases_ = std::string("phases: {activations: ") +
                (dice_.one_in(3)   ? "streaming"
                 : dice_.one_in(2) ? "pair_link"
                                   : "on_chip") +
                "}\n";
    policy_ = sharded_ ? "sharded" : "phased";
    if (dice_.one_in(3)) keys_ = ", overlap: false";
    common_ = count_ > 1 && dice_.one_in(4);
    add_devices();
    add_links();
  }

  /// Returns the scenario with memories of these sizes. If devices are unlike, some of their memories are larger.
  Scenario scenario(std::int64_t first, std::int64_t second, const std::string& placement) const {
    std::string platform = "platform:\n  format: sluice-platform/1\n  name: cards\n  devices:\n";
    for (const Card& card : cards_)
      platform +=
          "    " + card.name + ":\n      rate: {float32: " + card.rate +
          "FLOP/s}\n      memory:\n      - {capacity: " + std::to_string(first * card.size / 4) +
          "B, bandwidth: " + card.bandwidth + "B/s}\n      - " +
          (common_ ? "ddr" : "{name: ddr, " + rates(second * card.size / 4, card)) + "\n";
    platform += "  memories: {host: {capacity: 1MB}" +
                (common_ ? ", ddr: {" + rates(second * 2, cards_.front()) : "") + "}\n" +
                (common_ ? "  switches: [hub]\n" : "") + "  links:\n" + links_;
    return read_scenario(parse_text(text_ + phases_ + platform + "cost: roofline\npolicy: {name: " +
                                        policy_ + keys_ + ", placement: " + placement + "}\n",
                                    "cards.yaml"),
                         "cards");
  }
  std::vector<std::string> devices() const {
    std::vector<std::string> names;
    for (const Card& card : cards_) names.push_back(card.name);
    return names;
  }
  /// If weights take turns on a single device, gives the scenario the policy `streamed`.
  void stream() {
    if (!is_single()) return;
    policy_ = "streamed";
    phases_ = "";
  }
  PassedTensors passed() const { return {.inputs_stay = sharded_, .answers_pass = true}; }
  /// Returns whether weights take turns on a single device.
  bool is_single() const { return count_ == 1 && !sharded_; }
  /// Returns the scenario as text, for messages.
  std::string text() const { return scenario(1000, 1000, "static").text(); }

 private:
  struct Card {
    std::string name, rate, bandwidth, read, write;
    std::int64_t size = 4;  ///< the sizes of the memories, in quarters of the sizes of the scenario
  };

  void add_model() {
    text_ =
        "format: sluice-scenario/1\nmodel:\n  definition:\n    format: sluice-model/1\n"
        "    name: dense\n    layers:\n    - {type: input, name: x, shape: [8]}\n";
    std::string last = "x";
    for (std::uint64_t l = 0, layers = 2 + dice_.below(3); l < layers; ++l) {
      const std::string name = "d" + std::to_string(l);
      text_ += "    - {type: dense, name: " + name + ", features: 8, inputs: [" + last + "]}\n";
      last = name;
      if (!dice_.one_in(3)) continue;
      // A shortcut: this layer reads an earlier layer, which may be the input of the model.
      last = "a" + std::to_string(l);
      text_ += "    - {type: add, name: " + last + ", inputs: [" + name + ", " +
               (l > 0 && dice_.one_in(2) ? "d" + std::to_string(l - 1) : "x") + "]}\n";
    }
  }
  void add_training() {
    const std::uint64_t micro_batches = 1 + dice_.below(2);
    text_ += "workload: {mode: training, batch: " + std::to_string(micro_batches) +
             ", micro_batch: 1, steps: " + number(dice_, 1, 2) +
             ", optimizer: " + (dice_.one_in(2) ? "adam" : "none") +
             (dice_.one_in(2) ? ", backward: per_layer" : "") + "}\nfates: " +
             (dice_.one_in(3)   ? "recompute_all"
              : dice_.one_in(2) ? "offload_all"
                                : "keep_all") +
             "\n";
  }
  void add_devices() {
    const bool unlike = dice_.one_in(2);
    for (std::uint64_t d = 0; d < count_; ++d) {
      if (d == 0)
        cards_.push_back({"", "500", "300", number(dice_, 20, 400), number(dice_, 20, 400)});
      else if (unlike)
        cards_.push_back({"", number(dice_, 200, 800), number(dice_, 200, 500),
                          number(dice_, 20, 400), number(dice_, 20, 400),
                          4 + static_cast<std::int64_t>(dice_.below(4))});
      else
        cards_.push_back(cards_.front());
      cards_.back().name = "gpu" + std::to_string(d);
    }
  }
  void add_links() {
    std::string all = "host", seconds = "host";
    for (const Card& card : cards_) {
      all += ", " + card.name;
      seconds += ", " + card.name + "_ddr";
    }
    const std::string sharing = dice_.one_in(2) ? "shared" : "private";
    links_ = link("host", all, sharing);
    if (common_)
      links_ += link("far", "hub" + all.substr(4), "private") + link("hub", "ddr, hub", "shared");
    else if (dice_.one_in(2))
      links_ += link("far", seconds, sharing);
    else  // loads into both memories share the link to host memory
      for (const Card& card : cards_)
        links_ += link("far_" + card.name, card.name + ", " + card.name + "_ddr", "shared");
    for (std::uint64_t d = 0; d + 1 < count_; ++d)
      links_ +=
          link("pair" + std::to_string(d), cards_[d].name + ", " + cards_[d + 1].name, "shared");
  }
  std::string link(const std::string& name, const std::string& joins, const std::string& sharing) {
    return "    " + name + ": {joins: [" + joins + "], bandwidth: " + number(dice_, 5, 200) +
           "B/s, latency: " + number(dice_, 0, 3) + "s, setup: " + number(dice_, 0, 2) +
           "s, sharing: " + sharing + "}\n";
  }
  static std::string rates(std::int64_t bytes, const Card& card) {
    return "capacity: " + std::to_string(bytes) + "B, read: " + card.read +
           "B/s, write: " + card.write + "B/s}";
  }

  Dice dice_;
  bool sharded_ = false, common_ = false;
  std::uint64_t count_ = 1;
  std::vector<Card> cards_;
  std::string text_, phases_, policy_, keys_, links_;
};

/// The plan of a random scenario before its tensors are placed, and the prices for placing them. The capacities of the
/// devices do not matter.
struct Unplaced {
  explicit Unplaced(const RandomDevices& random)
      : scenario(without_limits(random)),
        planned(plan_scenario(scenario)),
        request(request_of(scenario, planned.cut, scenario.fates)),
        prices(request, random.devices(), random.passed()) {}
  Unplaced(const Unplaced&) = delete;

  static Scenario without_limits(const RandomDevices& random) {
    Scenario scenario = random.scenario(1000, 1000, "none");
    scenario.capacity_enforced = false;
    return scenario;
  }

  Scenario scenario;
  PlannedScenario planned;
  PolicyRequest request;
  PlacedPrices prices;
};

}  // namespace sluice::test
