// Tests that no plan is faster than the bound of the question. Models, machines and workloads are random, and models
// are chains or graphs. Every policy is tried with many settings. `./dev properties` tries more questions than a run
// of all tests.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "document/load.hpp"
#include "planning/run_seconds.hpp"
#include "run/isolated.hpp"
#include "scenario/question_bound.hpp"
#include "support/random_question.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

using test::Campaign, test::Dice, test::pick, test::random_model, test::random_platform;
using test::random_policy, test::random_workload;

}  // namespace

TEST_CASE("No plan of any policy is faster than the bound of its question", "[property]") {
  const std::vector<std::string> policies = {"resident",
                                             "streamed",
                                             "sharded",
                                             "phased",
                                             "data_parallel, replica: resident",
                                             "data_parallel, replica: streamed",
                                             "data_parallel, replica: phased"};
  Campaign campaign;
  for (std::uint64_t seed = 0; seed < test::cases_of<std::uint64_t>(450, 2500); ++seed) {
    Dice dice(seed);
    const std::string& policy = policies[seed % policies.size()];
    const bool training = policy != "sharded" && dice.one_in(2);
    const bool several = policy != "resident" && policy != "streamed";
    const std::string text = "format: sluice-scenario/1\n" + random_model(dice) +
                             random_platform(dice, several) + random_workload(dice, training) +
                             random_policy(dice, policy, training);
    campaign.ask(policy + (training ? " training" : " inference"), seed,
                 [&] { return read_scenario(parse_text(text, "random.yaml"), "random"); });
  }
  CHECK(campaign.ran.size() == 13);
  for (const auto& [name, count] : campaign.ran) {
    INFO(name);
    CHECK(count > 5);
  }
  for (const char* words : {"must cross", "of weights up to", "computation"}) {
    INFO(words);
    CHECK(campaign.near[words] > 5);
  }
}

TEST_CASE(
    "No plan is faster than the bound if the weights of late layers do not fit together with the tensors that wait for "
    "these weights",
    "[property]") {
  Campaign campaign;
  for (std::uint64_t seed = 0; seed < test::cases_of<std::uint64_t>(220, 2000); ++seed) {
    Dice dice(seed);
    std::vector<test::Row> rows;
    double weights = 0;
    const std::size_t layers = 2 + dice.below(5);
    for (std::size_t l = 0; l < layers; ++l) {
      // The first half of the layers has many FLOP and few weights. The second half has few FLOP and many weights.
      const bool late = 2 * l >= layers;
      rows.push_back({static_cast<double>(1 + dice.below(late ? 3 : 60)) / 10,
                      static_cast<std::int64_t>(4 * dice.below(late ? 200'000 : 5000)),
                      static_cast<std::int64_t>(4 * (1 + dice.below(2000)))});
      weights += static_cast<double>(rows.back().weight_bytes);
    }
    const double share = 0.3 + 0.1 * static_cast<double>(dice.below(9));
    const std::string samples = pick(dice, {"4", "10", "40"});
    const std::string extra =
        "workload: {batches_per_step: " + samples + ", steps: " + pick(dice, {"1", "1", "3"}) +
        "}\nstages: {cut: by_memory, split: true, share: " + pick(dice, {"20%", "35%", "60%"}) +
        "}\npolicy: {name: streamed, prefetch: " + pick(dice, {"0", "1", "2", "4"}) +
        ", in_flight: " + pick(dice, {"auto", "auto", samples, "2"}) +
        "}\nfates: {strategy: " + pick(dice, {"keep_all", "offload_all"}) + "}\n";
    campaign.ask("streamed", seed, [&] {
      return test::small_scenario(
          4000, rows, extra,
          {"platform.links.host.bandwidth=" + pick(dice, {"1GB/s", "200MB/s", "80MB/s"}),
           "platform.devices.gpu.memory.capacity=" +
               std::to_string(static_cast<std::int64_t>(share * weights)) + "B"});
    });
  }
  CHECK(campaign.ran["streamed"] > 100);
  CHECK(campaign.near["cannot hold yet"] > 10);
}

// A small model that behaves like the scenario alexnet_x200, at 1 GFLOP/s and 1 GB/s. For each of 10 samples, the first
// layer takes 6 ms. It has no weights. For each sample, the second layer takes 0.1 ms. It has 3000 kB of weights. The
// tensor between the two layers has 20 kB per sample. The card has 1000 kB.
const std::vector<test::Row> front_and_back = {{6, 0, 20'000}, {0.1, 3'000'000, 400}};
const std::string ten =
    "workload: {batches_per_step: 10}\n"
    "stages: {cut: by_memory, split: true, share: 20%}\n"
    "policy: {name: streamed}\n";

double bound_with(const std::vector<std::string>& overrides) {
  return question_bound(test::small_scenario(1000, front_and_back, ten, overrides)).seconds;
}

TEST_CASE(
    "The bound of the question counts computation, and then the bytes for which the card had no room before") {
  const std::string capacity = "platform.devices.gpu.memory.capacity=";
  // The first input takes 0.001 ms, and then the first layer computes for 10 x 6 ms. The second layer needs its 3000 kB
  // of weights and 10 samples of 20 kB. When it begins, the card holds at most 1000 kB of these 3200 kB. The other 2200
  // kB still have to come, and take 2.2 ms at 1 GB/s.
  CHECK(bound_with({capacity + "1MB"}) == Approx(62.201e-3).epsilon(1e-12));
  // With 2.5 MB of memory, 700 kB do not fit, and take 0.7 ms. The computation of the second layer takes longer: 10 x
  // 0.1 ms. So the bound is the seconds of the first input and of the whole computation.
  CHECK(bound_with({capacity + "2.5MB"}) == Approx(61.001e-3).epsilon(1e-12));
  CHECK(bound_with({}) == Approx(61.001e-3).epsilon(1e-12));
  CHECK(bound_with({capacity + "1MB", "memory={capacity: unlimited}"}) ==
        Approx(61.001e-3).epsilon(1e-12));
  // With a tenth of the bandwidth, the 20 kB that a sample has between the layers take 0.2 ms, but the second layer
  // computes the sample in 0.1 ms. So in the bound, all samples go through both layers in 0.01 + 61 ms. Then the 3000 -
  // 1000 kB of weights that do not fit take 20 ms more. Another term of the bound is smaller: the 10 x 1 + 3000 kB that
  // must cross the link take 30.1 ms.
  const std::string slow = "platform.links.host.bandwidth=100MB/s";
  CHECK(bound_with({capacity + "1MB", slow}) == Approx(81.01e-3).epsilon(1e-12));
  // With 10 MB/s instead of 1 GB/s, the 3010 kB that must cross the link take 301 ms. This is the largest term of the
  // bound. The term with the weights that do not fit is 0.1 + 61 + 200 = 261.1 ms, and all weights alone take 300 ms.
  const std::string slower = "platform.links.host.bandwidth=10MB/s";
  CHECK(bound_with({capacity + "1MB", slower}) == Approx(301e-3).epsilon(1e-12));
}

TEST_CASE(
    "The bound of the question counts the answers after the weights without which no answer can be made") {
  // The 2000 kB of weights of the first layer take 2 ms at 1 GB/s. Then 10 answers of 500 kB take 5 ms. The weights of
  // the second layer are not counted before the answers, because a part of the layer could already make a part of an
  // answer.
  const auto bound = [](const std::string& outputs) {
    return question_bound(test::small_scenario(
        1000, {{0.1, 2'000'000, 400}, {0.1, 400'000, 500'000}},
        "workload: {batches_per_step: 10}\npolicy: {name: streamed, outputs: " + outputs + "}\n"));
  };
  CHECK(bound("return").seconds == Approx(7e-3).epsilon(1e-12));
  CHECK(bound("return").reason ==
        "2 MB of weights up to 2-L, then 5 ms for answers that are returned");
  // If the answers are discarded, the bound is 2 ms for the weights of the first layer and 10 x 0.1 ms for the
  // computation of the second layer.
  CHECK(bound("discard").seconds == Approx(3e-3).epsilon(1e-12));
}

TEST_CASE("A sample inside a block with a shortcut holds the shortcut, or all tensors beside it") {
  // A block begins and ends with tensors of 20 kB. Inside the block, the main path has a tensor of 0.4 kB. A shortcut
  // leads from the beginning to the end of the block, and carries the first tensor of 20 kB. So a sample inside the
  // block holds 0.4 kB and 20 kB.
  const auto least = [](const std::string& layers) {
    const Scenario scenario = read_scenario(
        parse_text(
            "format: sluice-scenario/1\nmodel:\n  definition:\n    format: sluice-model/1\n"
            "    name: m\n    layers:\n      - {type: input, name: in, shape: [5000]}\n"
            "      - {type: dense, name: front, features: 5000}\n" +
                layers +
                "platform:\n  format: sluice-platform/1\n  name: p\n  devices:\n    gpu: {rate: {float32: "
                "1GFLOP/s}, memory: {capacity: unlimited}}\n  memories: {host: {capacity: "
                "unlimited}}\n  links: {host: {joins: [host, gpu], bandwidth: 1GB/s}}\n"
                "workload: {mode: inference}\npolicy: {name: resident}\ncost: {model: peak}\n",
            "shortcut.yaml"),
        "shortcut");
    return question_terms(scenario, question_stages(scenario)).blocks.at(1).inside_bytes;
  };
  CHECK(least("      - {type: dense, name: narrow, features: 100}\n"
              "      - {type: dense, name: wide, features: 5000}\n"
              "      - {type: add, name: sum, inputs: [front, wide]}\n") == 20'000);
  // Now the shortcut has a layer of its own, which makes 300 features. So at one moment inside the block, a sample
  // holds only 100 + 300 features of 4 bytes.
  CHECK(least("      - {type: dense, name: narrow, features: 100}\n"
              "      - {type: dense, name: wide, features: 5000}\n"
              "      - {type: dense, name: side, inputs: [front], features: 300}\n"
              "      - {type: dense, name: back, features: 5000}\n"
              "      - {type: add, name: sum, inputs: [wide, back]}\n") == 1600);
}

TEST_CASE(
    "The bound of the question counts set-up and latency of the first input and of the last answer") {
  // The first input and the computation take 0.001 + 61 ms. The set-up and the latency of the link take 0.01 + 0.02 ms
  // for the first input, and again 0.01 + 0.02 ms for the last answer.
  const std::vector<std::string> late = {"platform.links.host.latency=20us",
                                         "platform.links.host.setup=10us"};
  CHECK(bound_with(late) == Approx(61.061e-3).epsilon(1e-12));
  std::vector<std::string> discard = late;
  discard.push_back("policy.outputs=discard");
  CHECK(bound_with(discard) == Approx(61.031e-3).epsilon(1e-12));
}

TEST_CASE(
    "The bound of the question divides the work among the devices, and counts a link that all devices use") {
  const std::vector<std::string> two = {"platform.devices.gpu.count=2",
                                        "policy={name: data_parallel, replica: streamed}"};
  // The first input takes 0.001 ms. The computation takes 61 ms on one device, and half of this on two devices.
  CHECK(bound_with(two) == Approx(30.501e-3).epsilon(1e-12));
  std::vector<std::string> slow = two;
  slow.push_back("platform.links.host.bandwidth=10MB/s");
  CHECK(bound_with(slow) == Approx(301e-3).epsilon(1e-12));
  slow.push_back("platform.links.host.sharing=private");
  CHECK(bound_with(slow) == Approx(150.5e-3).epsilon(1e-12));
  // The platform has two devices, but the policy computes on only one device.
  CHECK(bound_with({two[0]}) == Approx(61.001e-3).epsilon(1e-12));
}

TEST_CASE(
    "The bound of the question counts, in training, the weights that do not fit and are loaded again for each batch") {
  // The weights of the two layers have 100 kB and 3000 kB. The memory has 1000 kB, so 2000 kB of the second layer's
  // weights do not fit. There are 2 batches of 2 samples, and a sample has 1 kB. The first forward pass loads all 3100
  // kB of weights. The first backward pass, the second forward pass and the second backward pass each load only these
  // 2000 kB again. So together with the samples, 4 + 3100 + 6000 kB cross the link at 1 GB/s. The computation takes
  // less: a sample takes 0.2 ms forward and 2 x 0.2 ms backward, so 4 samples take 2.4 ms.
  const std::vector<test::Row> rows = {{0.1, 100'000, 400}, {0.1, 3'000'000, 400}};
  const auto bound = [&](const std::string& optimizer) {
    return question_bound(
               test::small_scenario(
                   1000, rows,
                   "workload: {mode: training, batch: 2, micro_batch: 1, steps: 2, optimizer: " +
                       optimizer + "}\npolicy: {name: streamed}\n",
                   {"platform.devices.gpu.memory.capacity=1MB"}))
        .seconds;
  };
  CHECK(bound("sgd") == Approx(9.104e-3).epsilon(1e-12));
  // Without an optimizer, the weights do not change. So all samples may go through the model together: the forward
  // passes load all weights, and the backward passes load 2000 kB again.
  CHECK(bound("none") == Approx(5.104e-3).epsilon(1e-12));
}

TEST_CASE(
    "The factor workload.backward multiplies only the forward passes of layers that have a backward pass") {
  // Every layer has 1008 elements of 2 B. No layer before the ReLU has weights, so it has no backward pass. Its forward
  // pass has 1008 FLOP at 1 GFLOP/s, and 2 us of launch overhead. The forward pass of each normalisation has 2016 FLOP.
  // Together, the forward passes take 11.04 us. A backward pass takes twice as long as the forward passes of the two
  // normalisations: 2 x 8.032 us. Before, the first sample is loaded: 2016 B at 1 GB/s. The times of memory are shorter
  // if all tensors are in the second memory.
  const Scenario scenario = read_scenario(
      parse_text("format: sluice-scenario/1\nmodel:\n  definition:\n    format: sluice-model/1\n"
                 "    name: m\n    layers:\n      - {type: input, name: x, shape: [21, 24, 2]}\n"
                 "      - {type: relu, name: first}\n      - {type: batch_norm, name: one}\n"
                 "      - {type: batch_norm, name: two}\n"
                 "platform:\n  format: sluice-platform/1\n  name: p\n  devices:\n    gpu:\n"
                 "      rate: {float16: 1GFLOP/s}\n      launch_overhead: 2us\n      memory:\n"
                 "      - {capacity: unlimited, bandwidth: 1GB/s}\n"
                 "      - {name: ddr, capacity: unlimited, bandwidth: 20GB/s}\n"
                 "  memories: {host: {capacity: unlimited}}\n  links:\n"
                 "    host: {joins: [host, gpu], bandwidth: 1GB/s}\n"
                 "    far: {joins: [gpu, gpu_ddr], bandwidth: 10GB/s}\n"
                 "workload: {mode: training, dtype: float16, batch: 1, optimizer: sgd}\n"
                 "stages: whole\nfates: keep_all\npolicy: {name: phased, placement: static}\n"
                 "cost: roofline\n",
                 "factor.yaml"),
      "factor");
  const double bound = question_bound(scenario).seconds;
  CHECK(bound == Approx(2.016e-6 + 11.04e-6 + 2 * 8.032e-6).epsilon(1e-12));
  // The plan also loads the samples and the weights, and updates the weights.
  CHECK(run_seconds(make_plan(scenario)) >= bound);
}

}  // namespace sluice
