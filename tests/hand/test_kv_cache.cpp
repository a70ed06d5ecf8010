// Tests which device holds the caches of keys and values during decoding. All bytes are calculated by hand.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "scenario/scenario.hpp"
#include "study/fits/fits.hpp"
#include "support/models.hpp"
#include "support/source_folder.hpp"

namespace sluice {
namespace {

FitsRequest decoding(const std::string& model, const std::vector<std::string>& keys) {
  FitsRequest request;
  request.model = load_model_use(test::zoo + model + ".yaml", keys);
  request.mode = "inference";
  request.dtype = "float16";
  request.platforms = {load_document(test::source_folder() + "/platforms/a100_pcie.yaml")};
  return request;
}

std::int64_t cached(const Footprint& footprint) {
  return footprint.by_class[static_cast<std::size_t>(TensorClass::kv_cache)];
}

void check_one_more_does_not_fit(const CardFit& fit) {
  Value document = parse_text(fit.scenario, "written.yaml");
  check(make_plan(read_scenario(document, "fits")));
  document.find("workload")->set("batch", Value::make(*fit.largest + 1));
  CHECK_THROWS_AS(check(make_plan(read_scenario(document, "one more"))), Infeasible);
}

TEST_CASE("an A100 has room to decode the 4096th token of 12 sequences of Llama 2 7B") {
  // The cache of a sequence has 32 blocks x 4095 tokens x (4096 + 4096) elements x 2 B = 2,146,959,360 B. The weights
  // have 13,476,831,232 B. So (40e9 - 13,476,831,232) / 2,146,959,360 = 12.35 sequences fit.
  constexpr std::int64_t cache = 32LL * 4095 * 8192 * 2;
  for (const char* cut : {"single_tensor", "per_layer", "by_memory"}) {
    CAPTURE(cut);
    FitsRequest request = decoding("llama2_7b", {"tokens=1", "cached=4095"});
    request.overrides = {"stages.cut=" + std::string(cut)};
    const CardFit fit = fits(request).cards.at(0);
    CHECK(fit.largest == 12);
    CHECK(cached(*fit.one_sample) == cache);
    CHECK(cached(*fit.largest_footprint) == 12 * cache);
    CHECK(fit.largest_footprint->bytes >= 13'476'831'232 + 12 * cache);
    check_one_more_does_not_fit(fit);
  }
}

TEST_CASE(
    "an A100 has room to decode the 1024th token of 1051 sequences of GPT-2, or of 1055 sequences "
    "under policy streamed") {
  // A sequence has 12 blocks x 1023 tokens x (768 + 768) elements x 2 B = 37,711,872 B of cache. While the logits are
  // computed, a sequence also has its last hidden vector (768 x 2 B) and its logits (50,257 x 2 B). The sum is
  // 37,813,922 B. The weights have 248,879,616 B, so (40e9 - 248,879,616) / 37,813,922 = 1051.2 sequences fit. With
  // policy `streamed`, only the weights of the last layer are on the device at that time. They have 38,597,376 x
  // 2 B, so (40e9 - 77,194,752) / 37,813,922 = 1055.7 sequences fit.
  constexpr std::int64_t cache = 12LL * 1023 * 1536 * 2, beside = 2 * (768 + 50'257);
  for (const char* policy : {"resident", "streamed"}) {
    CAPTURE(policy);
    FitsRequest request = decoding("gpt2", {"tokens=1", "cached=1023"});
    request.policy = policy;
    const CardFit fit = fits(request).cards.at(0);
    CHECK(cached(*fit.largest_footprint) == *fit.largest * cache);
    const bool stays = policy == std::string("resident");
    CHECK(fit.largest == (40'000'000'000 - (stays ? 248'879'616 : 77'194'752)) / (cache + beside));
    check_one_more_does_not_fit(fit);
  }
}

/// Returns a scenario whose model has `blocks` blocks, each with a product and an attention. The attention has 3 cached
/// tokens. So the cache of a block has 3 x (8 + 8) x 4 B = 192 B per sample, which is 4 x 192 = 768 B for 4 samples.
/// The two devices have 1 GFLOP/s each, and the links 1 GB/s each.
Scenario small(const std::string& extra, int blocks = 2, const std::string& capacity = "1MB") {
  std::string layers = "    - {type: input, name: x, shape: [1, 8]}\n";
  for (int b = 1; b <= blocks; ++b) {
    const std::string n = std::to_string(b);
    layers += "    - {type: matmul, name: m" + n +
              ", features: 8}\n    - {type: attention, name: a" + n + ", inputs: [m" + n + ", m" +
              n + ", m" + n + "], heads: 1, cached: 3}\n";
  }
  std::string devices, links;
  for (const char* name : {"one", "two"}) {
    devices += "    " + std::string(name) +
               ": {rate: {float32: 1GFLOP/s}, memory: {capacity: " + capacity + "}}\n";
    links += "    " + std::string(name) + ": {joins: [host, " + name + "], bandwidth: 1GB/s}\n";
  }
  return read_scenario(
      parse_text("format: sluice-scenario/1\n"
                 "model:\n  definition:\n    format: sluice-model/1\n    name: m\n    layers:\n" +
                     layers + "platform:\n  format: sluice-platform/1\n  name: p\n  devices:\n" +
                     devices + "  memories: {host: {capacity: unlimited}}\n  links:\n" + links +
                     "    pair: {joins: [one, two], bandwidth: 1GB/s}\n" +
                     (extra.find("workload:") == std::string::npos
                          ? "workload: {batch: 4, micro_batch: 2}\n"
                          : "") +
                     extra,
                 "small.yaml"),
      "small");
}

/// Returns the bytes of the caches that each device holds, in the order of the devices.
std::vector<std::int64_t> caches_of(const Plan& plan) {
  check(plan);
  std::vector<std::int64_t> bytes(2, 0);
  for (const Tensor& tensor : plan.tensors)
    if (tensor.tensor_class == TensorClass::kv_cache) bytes.at(tensor.home) += tensor.bytes;
  return bytes;
}

using Bytes = std::vector<std::int64_t>;

const std::string per_block = "stages: {cut: explicit, after: [a1]}\n";

TEST_CASE(
    "the device that computes a layer holds the cache of the layer for all samples of a "
    "step") {
  for (const char* policy : {"resident", "streamed", "phased, device: one"})
    CHECK(caches_of(make_plan(small("policy: {name: " + std::string(policy) + "}\n" +
                                    per_block))) == Bytes{2 * 768, 0});
  for (const char* policy : {"sharded", "phased"})
    CHECK(caches_of(make_plan(small("policy: {name: " + std::string(policy) + "}\n" +
                                    per_block))) == Bytes{768, 768});
  // There are two batches, one for each replica.
  CHECK(caches_of(make_plan(small("policy: {name: data_parallel, replica: streamed}\n" + per_block +
                                  "workload: {batch: 4, batches_per_step: 2}\n"))) ==
        Bytes{2 * 768, 2 * 768});
}

TEST_CASE("if caches are too large, the message names the caches and not the first layer") {
  // The caches of 4 samples with 2 x 192 B per sample have 1536 B. A memory of 1000 B holds the caches of two samples.
  const auto plan = [&](const std::string& capacity) {
    return make_plan(small("policy: {name: streamed}\nstages: {cut: by_memory}\n", 2, capacity));
  };
  CHECK_THROWS_WITH(plan("1000B"),
                    Catch::Contains("the caches of keys and values do not fit into device 'one': 4 "
                                    "samples of 384 B are 1536 B, and 1000 of 1000 B may be used. "
                                    "Caches of 2 samples would fit"));
  CHECK_THROWS_WITH(plan("300B"), Catch::Contains("Even the caches of one sample do not fit"));
  CHECK_THROWS_WITH(plan("1550B"), Catch::Contains("layer 'm1' does not fit"));
}

TEST_CASE("a cache does not move to the device that computes its stage in the next step") {
  // Two devices, `one` and `two`, take turns. With three phases per step, the first phase of the
  // first step would run on device `one`, and the first phase of the second step on device `two`.
  const std::string rest =
      "stages: {cut: explicit, after: [a1, a2]}\nworkload: {batch: 1, steps: 2}\n";
  const std::string three = "policy: {name: phased, in_flight: 1}\n" + rest;
  CHECK_THROWS_WITH(make_plan(small(three, 3)),
                    Catch::Contains("would be computed on one and, a step later, on two") &&
                        Catch::Contains("phases.devices"));
  CHECK(caches_of(make_plan(small(three + "phases: {devices: [one, two, one]}\n", 3))) ==
        Bytes{2 * 192, 192});
  // If the number in flight is left open, Sluice finds turns in which device `two` is idle. Then device `one` computes
  // all stages in both steps, and holds all caches.
  CHECK(caches_of(make_plan(small("policy: {name: phased}\n" + rest, 3))) == Bytes{3 * 192, 0});
}

TEST_CASE("streamed: as many micro-batches are in flight as fit next to the caches") {
  // The weights of a group have 8 x 8 x 4 = 256 B, and the caches have 2 x 192 B x 4 samples = 1536 B. Each tensor has
  // 32 B per sample. With n micro-batches of one sample in flight, the first group has 32 B of input, 32 n B of
  // outputs and 32 B of workspace. In total, it needs 256 + 1536 + 64 + 32 n B. So n = 2 micro-batches fit into 1920 B.
  const std::string four =
      "policy: {name: streamed, overlap: false}\nfates: {strategy: "
      "keep_all}\n" +
      per_block + "workload: {batch: 4, micro_batch: 1}\n";
  const Plan plan = make_plan(small(four, 2, "1920B"));
  check(plan);
  CHECK(plan.facts.front() == Fact("in_flight", 2));
  CHECK(replay(plan).peaks.front() == 1920);
  CHECK_THROWS_WITH(make_plan(small(four, 2, "1887B")),
                    Catch::Contains("caches of all groups 1.536 kB"));
}

TEST_CASE("the stages of the cut by_memory leave room for the caches that their device holds") {
  // A stage with both blocks has 512 B of weights and 1536 B of caches. A micro-batch of 2 samples has an input of 64
  // B, an output of 64 B and two inner tensors of 64 B each. The sum is 2304 B. If one device computes both blocks, it
  // holds the caches of all stages, with every cut.
  const auto stages = [](const std::string& policy, const std::string& capacity) {
    return stages_of(
               small("policy: {name: " + policy + "}\nstages: {cut: by_memory}\n", 2, capacity))
        .size();
  };
  CHECK(stages("streamed", "2304B") == 1);
  CHECK(stages("streamed", "2303B") == 2);
  CHECK_THROWS_WITH(stages("streamed", "1500B"), Catch::Contains("4 samples of 384 B are 1536 B"));
  CHECK(stages("sharded", "1500B") == 2);
}

TEST_CASE("decoding and training cannot be combined") {
  CHECK_THROWS_WITH(
      make_plan(small("policy: {name: resident}\nworkload:\n  mode: training\n  batch: 4\n")),
      Catch::Contains("layer 'a1' decodes with a cache of keys and values") &&
          Catch::Contains("workload.mode must be inference") && Catch::Contains("small.yaml:"));
}

}  // namespace
}  // namespace sluice
