// Tests the least price of a part of a split layer (cost/part_price.hpp).
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "cost/cost.hpp"
#include "model/partial.hpp"
#include "platform/platform.hpp"
#include "support/models.hpp"

using namespace sluice;

namespace {

/// Returns a platform whose device has a slow memory and a cache.
Platform slow_memory() {
  return read_platform(
      parse_text("format: sluice-platform/1\n"
                 "devices: {gpu: {rate: {float32: 200GFLOP/s}, units: 40, cache: 4MB, "
                 "memory: {capacity: 1GB, bandwidth: 1GB/s}}}\n"
                 "memories: {host: {capacity: unlimited}}\n"
                 "links: {host: {joins: [host, gpu], bandwidth: 1GB/s}}\n",
                 "slow.yaml"));
}

/// Returns the cost model `measured` with two rows, for the forward pass of 4 samples: a dense layer of 30 x 50 takes
/// 3 ms, and an embedding of 10 words with 8 numbers each takes 5 ms. `outside` prices all other operators.
ChosenCost one_measured_layer(const Platform& platform, const std::string& outside) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("sluice_part_price_" + std::to_string(getpid()) + ".csv");
  std::ofstream(file)
      << "# format: sluice-profile/1\n"
         "operator,config,inputs,batch,pass,dtype,seconds_median\n"
         "dense,dense bias=false features=50 sparsity=0,4x30,4,forward,float32,0.003\n"
         "embedding,embedding entries=10 features=8,4x2,4,forward,float32,0.005\n";
  Value keys = parse_text("{model: measured, outside: " + outside + "}", "cost.yaml");
  keys.set("profile", Value::make(file.string()));
  ChosenCost cost = choose_cost(keys, "", platform);
  std::filesystem::remove(file);
  return cost;
}

}  // namespace

TEST_CASE("the parts of a layer together take at least the seconds of the layer") {
  // A device with a slow memory and a cache: a small part fits better into the cache than the whole layer, so the
  // kernels of the parts alone would take fewer seconds than the kernel of the layer.
  const Platform platform = slow_memory();
  const ChosenCost cost =
      choose_cost(parse_text("{model: fitted, file: gpus_float32}", "s.yaml"), "", platform);
  int raised = 0;
  for (const int features : {7, 601, 675, 4096}) {
    const Model model = sluice::test::model_of(
        "- {type: input, name: x, shape: [675]}\n"
        "- {type: dense, name: y, features: " +
        std::to_string(features) + "}\n");
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      const Price whole = cost->of(
          query_of(model, model.layers[1], pass, 1, DType::float32, platform.devices.front()));
      for (std::int64_t parts = 2; parts <= 7; ++parts) {
        const Model split = split_layers(model, {1, parts});
        Price sum;
        double alone = 0;
        for (std::size_t l = 1; l < split.layers.size(); ++l) {
          Layer part = split.layers[l];
          const auto query = [&] {
            return query_of(split, part, pass, 1, DType::float32, platform.devices.front());
          };
          const Price price = cost->of(query());
          sum += price;
          double grounds = 0;
          for (const Grounds& kernel : cost->grounds(query())) grounds += kernel.seconds;
          CHECK(grounds == Approx(price.seconds).epsilon(1e-12));
          part.whole = nullptr;  // a layer of its own with the sizes of the part
          alone += cost->of(query()).seconds;
        }
        INFO(features << " features in " << parts << " parts");
        CHECK(sum.seconds >= whole.seconds * (1 - 1e-12));
        CHECK(sum.seconds >= alone * (1 - 1e-12));
        raised += alone < whole.seconds * (1 - 1e-3) ? 1 : 0;
      }
    }
  }
  CHECK(raised > 0);
}

TEST_CASE(
    "a part that was not measured takes at least its share of the measured seconds of the whole layer") {
  // By roofline, the parts together move 4 x (2 x 30 + 50) x 4 bytes and 30 x 50 x 4 bytes. At 1 GB/s this takes less
  // than 8 us, far less than the measured 3 ms.
  const Platform platform = slow_memory();
  const ChosenCost cost = one_measured_layer(platform, "roofline");
  const Model model = sluice::test::model_of(
      "- {type: input, name: x, shape: [30]}\n"
      "- {type: dense, name: full, features: 50, bias: false}\n");
  const Model split = split_layers(model, {1, 2});
  const auto price = [&](std::size_t layer, std::int64_t samples) {
    return cost->of(query_of(split, split.layers[layer], Pass::forward, samples, DType::float32,
                             platform.devices.front()));
  };
  for (const std::size_t part : {1, 2}) {
    CHECK(price(part, 4).seconds == Approx(0.003 / 2).epsilon(1e-12));
    CHECK(price(part, 4).measured_s == 0);
    const auto grounds = cost->grounds(query_of(split, split.layers[part], Pass::forward, 4,
                                                DType::float32, platform.devices.front()));
    REQUIRE(grounds.size() == 1);
    CHECK(grounds[0].seconds == Approx(0.003 / 2).epsilon(1e-12));
    CHECK_FALSE(grounds[0].measured);
  }
  // Five samples were not measured, so roofline prices the whole layer as well.
  CHECK(price(1, 5).seconds < 8e-6);
}

TEST_CASE(
    "a part without FLOP takes its share of the measured seconds, although peak prices it with 0 s") {
  const Platform platform = slow_memory();
  const Model model = sluice::test::model_of(
      "- {type: input, name: x, shape: [2]}\n"
      "- {type: embedding, name: words, entries: 10, features: 8}\n");
  INFO(model.layers[1].config);
  const ChosenCost cost = one_measured_layer(platform, "peak");
  const auto price = [&](const Model& whole_or_split, std::size_t layer) {
    return cost->of(query_of(whole_or_split, whole_or_split.layers[layer], Pass::forward, 4,
                             DType::float32, platform.devices.front()));
  };
  REQUIRE(price(model, 1).seconds == 0.005);
  const Model split = split_layers(model, {1, 2});
  CHECK(price(split, 1).seconds == Approx(0.0025).epsilon(1e-12));
  CHECK(price(split, 2).seconds == Approx(0.0025).epsilon(1e-12));
}
