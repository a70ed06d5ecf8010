// Random questions: models, machines, workloads and policies as texts of scenarios. A campaign compares the answers
// with the bounds of the questions.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "scenario/question_bound.hpp"
#include "support/campaign.hpp"
#include "support/random_chain.hpp"

namespace sluice::test {

inline std::string pick(Dice& dice, const std::vector<std::string>& words) {
  return words[dice.below(words.size())];
}

/// Returns a model of dense layers, activations and sums. A sum adds two earlier layers of the same width.
inline std::string random_model(Dice& dice) {
  const std::vector<std::string> widths = {"8", "64", "300"};
  std::vector<std::string> width = {pick(dice, widths)};
  std::string text =
      "model:\n  definition:\n    format: sluice-model/1\n    name: m\n    layers:\n"
      "      - {type: input, name: l0, shape: [" +
      width[0] + "]}\n";
  const std::size_t layers = 1 + dice.below(9);
  const bool graph = dice.one_in(2);
  for (std::size_t l = 1; l <= layers; ++l) {
    const std::size_t from = graph && dice.one_in(3) ? dice.below(l) : l - 1;
    std::string keys = ", inputs: [l" + std::to_string(from);
    const std::size_t other = dice.below(l);
    if (graph && other != from && width[other] == width[from] && dice.one_in(2)) {
      width.push_back(width[from]);
      text += "      - {type: add, name: l" + std::to_string(l) + keys + ", l" +
              std::to_string(other) + "]}\n";
    } else if (dice.one_in(4)) {
      width.push_back(width[from]);
      text += "      - {type: relu, name: l" + std::to_string(l) + keys + "]}\n";
    } else {
      width.push_back(pick(dice, widths));
      text += "      - {type: dense, name: l" + std::to_string(l) + keys +
              "], features: " + width.back() + "}\n";
    }
  }
  return text;
}

inline std::string random_platform(Dice& dice, bool several) {
  const std::string count = several ? pick(dice, {"2", "3"}) : "1";
  std::string text =
      "platform:\n  format: sluice-platform/1\n  name: p\n  devices:\n    gpu:\n      count: " +
      count + "\n      rate: {float32: " + pick(dice, {"10GFLOP/s", "1GFLOP/s", "100MFLOP/s"}) +
      "}\n      launch_overhead: " + pick(dice, {"0us", "3us"}) + "\n      memory: {capacity: " +
      pick(dice, {"unlimited", "60kB", "150kB", "300kB", "500kB", "900kB", "2MB"}) +
      ", bandwidth: 10GB/s}\n  memories: {host: {capacity: unlimited}}\n  links:\n    host: "
      "{joins: [host, gpu], bandwidth: " +
      pick(dice, {"1GB/s", "100MB/s", "10MB/s"}) + ", latency: " + pick(dice, {"0us", "20us"}) +
      ", setup: " + pick(dice, {"0us", "5us"}) + ", sharing: " + pick(dice, {"shared", "private"}) +
      ", duplex: " + pick(dice, {"full", "half"}) + "}\n";
  if (count == "2")
    text += "    pair: {joins: [gpu0, gpu1], bandwidth: " + pick(dice, {"1GB/s", "50MB/s"}) + "}\n";
  return text;
}

inline std::string random_workload(Dice& dice, bool training) {
  std::string text = "workload: {mode: " + std::string(training ? "training" : "inference") +
                     ", micro_batch: " + pick(dice, {"1", "2"}) +
                     ", batch: " + pick(dice, {"2", "4", "12", "24"}) +
                     ", batches_per_step: " + pick(dice, {"1", "2", "3"}) +
                     ", steps: " + pick(dice, {"1", "2", "5"});
  if (training)
    text += ", optimizer: " + pick(dice, {"none", "sgd", "adam"}) +
            ", backward: " + pick(dice, {"2", "1", "per_layer"}) +
            ", split_backward: " + pick(dice, {"true", "false"});
  return text + "}\ncost: {model: " + pick(dice, {"peak", "roofline"}) +
         "}\nmemory: {capacity: " + pick(dice, {"enforced", "enforced", "enforced", "unlimited"}) +
         ", working_set: " + pick(dice, {"counted", "counted", "ignored"}) + "}\n";
}

inline std::string random_policy(Dice& dice, const std::string& policy, bool training) {
  const bool streams = policy.find("streamed") != std::string::npos;
  const bool phased = policy.find("phased") != std::string::npos;
  std::string text = "policy: {name: " + policy + ", overlap: " + pick(dice, {"true", "false"});
  if (!training) text += ", outputs: " + pick(dice, {"return", "return", "discard"});
  if (streams || phased) text += ", in_flight: " + pick(dice, {"auto", "1", "2", "4"});
  if (!training && phased) text += ", host_data: " + pick(dice, {"real", "synthetic"});
  text += "}\nstages: " +
          pick(dice, {"{cut: per_layer}", "{cut: single_tensor}", "{cut: by_memory}",
                      "{cut: by_memory, split: true}", "{cut: by_memory, split: true, share: 40%}",
                      "{cut: balanced, count: 2}"}) +
          "\n";
  const std::vector<std::string> fates =
      training  ? std::vector<std::string>{"keep_all", "recompute_all", "offload_all", "sqrt"}
      : streams ? std::vector<std::string>{"keep_all", "offload_all"}
                : std::vector<std::string>{"keep_all"};
  text += "fates: {strategy: " + pick(dice, fates) + "}\n";
  if (phased && !training)
    text += "phases: {activations: " + pick(dice, {"on_chip", "pair_link", "streaming"}) + "}\n";
  return text;
}

inline double makespan_of(const Plan& plan) {
  const ReplayResult result = replay(plan);
  if (result.blocking) throw Infeasible("it blocks");
  return result.makespan;
}

/// Answers questions, except those whose settings contradict each other, and those for which no plan fits. The bound is
/// the largest of several terms. If a plan comes close to the bound, counts the term that gave this bound.
class Campaign {
 public:
  void ask(const std::string& name, std::uint64_t seed, const std::function<Scenario()>& read) {
    QuestionBound bound;
    double makespan = 0;
    std::string text;
    try {
      const Scenario scenario = read();
      text = scenario.text();
      makespan = makespan_of(make_plan(scenario));
      bound = question_bound(scenario);
    } catch (const InputError&) {
      return;  // the settings of this question contradict each other
    } catch (const Infeasible&) {
      return;
    }
    ++ran[name];
    for (const char* words : {"cannot hold yet", "must cross", "of weights up to", "computation"})
      if (bound.reason.find(words) != std::string::npos) {
        near[words] += bound.seconds > 0.7 * makespan;
        break;
      }
    INFO("seed " << seed << ": " << bound.reason << "\n" << text);
    REQUIRE(bound.seconds > 0);
    REQUIRE(bound.seconds <= makespan * (1 + 1e-9));
  }

  std::map<std::string, int> ran, near;
};

}  // namespace sluice::test
