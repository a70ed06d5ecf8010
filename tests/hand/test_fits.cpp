// Tests how many samples fit. The bytes of one sample, and the bytes that all samples share, are computed by hand.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/feasibility.hpp"
#include "scenario/scenario.hpp"
#include "study/fits/fits.hpp"
#include "support/models.hpp"
#include "support/source_folder.hpp"

namespace sluice {
namespace {

FitsRequest request_of(const std::string& model, const std::vector<std::string>& platforms) {
  FitsRequest request;
  request.model = load_model_use(test::zoo + model + ".yaml", {});
  for (const std::string& platform : platforms)
    request.platforms.push_back(
        load_document(test::source_folder() + "/platforms/" + platform + ".yaml"));
  return request;
}

std::int64_t held(const Footprint& footprint, TensorClass tensor_class) {
  return footprint.by_class[static_cast<std::size_t>(tensor_class)];
}

// The table below is for the model `cnn_mnist` in float32 (analysis/validation/memory_and_computation_of_networks.md).
// One sample has these numbers of elements: image 784, conv1 25,088, conv2 25,088, pool 6,272, full1 128, full2 10. The
// pool also keeps the position of each maximum, which takes 6,272 x 8 B.
//   image 3,136 B   conv1 100,352   conv2 100,352   pool 25,088   indices 50,176   full1 512
// The 813,802 parameters have 3,255,208 B, and their gradients also have 3,255,208 B. The backward pass of a
// convolution or dense layer reads the input of the layer. The backward pass of the pool reads the positions, which the
// table calls indices.
//   forward pool    image + conv1 + conv2 + pool + indices                       279,104
//   backward full1  image + conv1 + pool + indices + gradients of full1, pool    204,352
//   backward pool   image + conv1 + indices + gradients of pool and conv2        279,104
//   backward conv2  image + conv1 + gradients of conv2 and conv1                 304,192
//   backward conv1  image + gradient of conv1                                    103,488
constexpr std::int64_t weights = 4 * 813'802, sample = 3'136 + 3 * 100'352;

TEST_CASE(
    "the small CNN document's network on a GTX 980: 13,128 samples fit in training with sgd, and "
    "the backward pass of conv2 binds") {
  // Weights and gradients leave 4e9 - 2 x 3,255,208 = 3,993,489,584 B. A sample takes 304,192 B, so there is room for
  // 13,128.2 samples.
  const CardFit fit = fits(request_of("cnn_mnist", {"gtx980"})).cards.at(0);
  REQUIRE(fit.largest == 13'128);
  CHECK(fit.largest == (4'000'000'000 - 2 * weights) / sample);
  CHECK(fit.one_sample->bytes == 2 * weights + sample);
  CHECK(fit.one_sample->doing == "backward of conv2");
  CHECK(held(*fit.one_sample, TensorClass::weight) == weights);
  CHECK(held(*fit.one_sample, TensorClass::gradient) == weights + 2 * 100'352);
  CHECK(held(*fit.one_sample, TensorClass::activation) == 100'352);
  CHECK(held(*fit.one_sample, TensorClass::input) == 3'136);
  CHECK(fit.largest_footprint->bytes == 2 * weights + 13'128 * sample);
  CHECK(fit.next->samples == 13'129);
  CHECK(fit.next->bytes == 2 * weights + 13'129 * sample);
  CHECK_THAT(fit.refusal, Catch::Contains("does not fit") && Catch::Contains("conv2"));
}

TEST_CASE(
    "the small CNN document's network trains with adam, which has two additional values per "
    "weight") {
  // The weights, their gradients and the two values of state per weight have 4 x 3,255,208 B. A sample needs 304,192 B.
  // So there is room for 13,106.8 samples on the GTX 980 (4 GB), 39,405.96 on the K40 (12 GB), and 16,394.2 on the K20
  // (5 GB).
  FitsRequest request = request_of("cnn_mnist", {"gtx980", "k40", "k20"});
  request.optimizer = "adam";
  const FitsReport report = fits(request);
  CHECK(report.optimizer == "adam");
  CHECK(held(*report.cards[0].one_sample, TensorClass::optimizer) == 2 * weights);
  for (const CardFit& card : report.cards)
    CHECK(card.largest == (*card.capacity - 4 * weights) / sample);
  CHECK(report.cards[0].largest == 13'106);
  CHECK(report.cards[1].largest == 39'405);
  CHECK(report.cards[2].largest == 16'394);
}

TEST_CASE(
    "the small CNN document's network on a GTX 980: 19,913 samples fit in inference, and the pass "
    "of conv2 binds") {
  // While conv2 runs, the card holds the weights and, for each sample, the outputs of conv1 and conv2. These two
  // outputs together have 200,704 B. So (4e9 - 3,255,208) / 200,704 = 19,913.6 samples fit.
  FitsRequest request = request_of("cnn_mnist", {"gtx980", "k40", "k20"});
  request.mode = "inference";
  const FitsReport report = fits(request);
  CHECK(report.cards[0].one_sample->bytes == weights + 200'704);
  CHECK(report.cards[0].one_sample->doing == "forward of conv2");
  for (const CardFit& card : report.cards)
    CHECK(card.largest == (*card.capacity - weights) / 200'704);
  CHECK(report.cards[0].largest == 19'913);
  CHECK(report.cards[1].largest == 59'773);
  CHECK(report.cards[2].largest == 24'896);
  CHECK_FALSE(report.cards[0].accumulation);
}

TEST_CASE(
    "the small CNN document's network in float16: the indices still have 8 bytes each, and the "
    "forward pass of the pool binds") {
  // In float32, the image and the outputs of conv1, conv2 and the pool have 3,136 + 2 x 100,352 + 25,088 B. In float16,
  // they have half of these bytes. The forward pass of the pool needs these tensors and 50,176 B of indices. So it
  // needs 164,640 B in all. The backward pass of conv2 needs 152,096 B. The state of adam has 2 x 3,255,208 B in
  // float32. It also has a master copy of the weights, if the question asks for it.
  FitsRequest request = request_of("cnn_mnist", {});
  request.optimizer = "adam";
  request.dtype = "float16";
  const Footprint one = fits(request).cards.at(0).one_sample.value();
  CHECK(one.bytes == weights + 2 * weights + 164'640);
  CHECK(one.doing == "forward of pool");
  request.overrides = {"workload.master_weights=true"};
  CHECK(fits(request).cards.at(0).one_sample->bytes == weights + 3 * weights + 164'640);
}

/// Returns a card of 1 GFLOP/s behind a link of 1 GB/s. A transfer over the link has a set-up of 1 ms.
Value small_platform(const std::string& capacity) {
  return parse_text(
      "format: sluice-platform/1\nname: small\n"
      "devices: {gpu: {rate: {float32: 1GFLOP/s}, memory: {capacity: " +
          capacity +
          "}}}\nmemories: {host: {capacity: unlimited}}\n"
          "links: {host: {joins: [host, gpu], bandwidth: 1GB/s, setup: 1ms}}\n",
      "small.yaml");
}

/// Returns the question how many samples of a model fit. The model has one layer with 1000 x 1000 weights. The layer
/// takes 2e6 FLOP forward and 4e6 FLOP backward. The input and the output of the layer have 4 kB each.
FitsRequest one_layer(const std::string& capacity) {
  FitsRequest request;
  request.model = Value::make_map();
  request.model.set("definition",
                    parse_text("format: sluice-model/1\nname: one\nlayers:\n"
                               "  - {type: input, name: x, shape: [1000]}\n"
                               "  - {type: dense, name: y, features: 1000, bias: false}\n",
                               "one.yaml"));
  request.platforms = {small_platform(capacity)};
  request.overrides = {"policy.overlap=false"};
  return request;
}

TEST_CASE(
    "a step with several micro-batches takes the seconds of all micro-batches and of one "
    "update") {
  // Weights and gradients have 4 MB each. Per sample, the input, the output and the gradient of the output have 4 kB
  // each. So 8.04 MB hold 3 samples: 8 MB + 3 x 12 kB = 8.036 MB. A batch of 6 samples has 2 micro-batches. Each
  // micro-batch takes 1 ms + 12 us for 3 inputs, and 3 x 6 ms for the computation. The update takes 2 FLOP for each of
  // 1e6 weights, which is 2 ms.
  FitsRequest request = one_layer("8.04MB");
  request.batch = 6;
  const CardFit fit = fits(request).cards.at(0);
  CHECK(fit.largest == 3);
  CHECK(*fit.step_s == Approx(1.012e-3 + 18e-3 + 2e-3).epsilon(1e-9));
  REQUIRE(fit.accumulation);
  CHECK(fit.accumulation->micro_batch == 3);
  CHECK(fit.accumulation->step_s == Approx(2 * (1.012e-3 + 18e-3) + 2e-3).epsilon(1e-9));
}

TEST_CASE("the reserved memory of a card is not used for samples") {
  // The memory of 8.05 MB without the reserved 10 kB is 8.04 MB, as in the previous test.
  FitsRequest request = one_layer("8.05MB");
  CHECK(fits(request).cards.at(0).largest == 4);
  request.overrides.emplace_back("platform.devices.gpu.memory.reserved=10kB");
  const CardFit fit = fits(request).cards.at(0);
  CHECK(fit.largest == 3);
  CHECK((fit.capacity == 8'040'000 && fit.reserved == 10'000));
}

TEST_CASE("the micro-batch of an accumulated batch is the largest divisor of the batch that fits") {
  FitsRequest request = one_layer("8.04MB");
  for (const auto& [batch, micro_batch] : {std::pair{8, 2}, {7, 1}, {9, 3}, {2, 2}, {1, 1}}) {
    request.batch = batch;
    CHECK(fits(request).cards.at(0).accumulation->micro_batch == micro_batch);
  }
  request.batch.reset();
  CHECK(fits(request).cards.at(0).accumulation->batch == 4 * 3);
  // 1,000,003 is prime. So all micro-batches have 1 sample, and 1,000,003 micro-batches are too many.
  request.batch = 1'000'003;
  CHECK_THROWS_WITH(fits(request), Catch::Contains("expected at most 1000000 micro-batches"));
}

TEST_CASE("if not even one sample fits, the missing bytes are reported") {
  // One sample needs 8,012,000 B.
  const CardFit fit = fits(one_layer("8.011MB")).cards.at(0);
  CHECK(fit.largest == 0);
  CHECK(fit.next->bytes - *fit.capacity == 1000);
  CHECK(fit.one_sample == fit.next);
  CHECK_FALSE(fit.largest_footprint);
  CHECK_FALSE(fit.step_s);
  CHECK_FALSE(fit.accumulation);
  CHECK_THAT(fit.refusal, Catch::Contains("does not fit"));
}

TEST_CASE(
    "the report says why there is no answer for a card, and has answers for the other cards") {
  FitsRequest request = request_of("cnn_mnist", {"k40", "a100_pcie"});
  request.dtype = "float16";
  const FitsReport report = fits(request);
  CHECK_THAT(report.cards.at(0).error,
             Catch::Contains("device 'gpu' has no rate for float16; it has float32"));
  CHECK(report.cards[0].platform == "k40");
  CHECK_FALSE(report.cards[0].largest);
  CHECK(report.cards[1].error.empty());
  CHECK(report.cards[1].largest.value() > 0);
  request.platforms.pop_back();
  CHECK_THROWS_WITH(fits(request),
                    Catch::Contains("no rate for float16") && Catch::Contains("of platform 'k40'"));
}

TEST_CASE(
    "under optimal, no fewer samples fit than under offload_all, and no more than the last product "
    "allows") {
  // GPT-2's last product reads 1024 x 768 elements per sample and makes 1024 x 50,257 elements. Each of these two
  // tensors has a gradient of the same size. Every schedule holds all four tensors during the backward pass of this
  // product. The 124,439,808 parameters take 16 B each (with adam in float32), 1,991,036,928 B in total. So 7 GB hold
  // at most (7e9 - 1,991,036,928) / (1024 x (2 x 768 + 2 x 50,257) x 4 B) = 12.0 samples.
  FitsRequest request = request_of("gpt2", {"a100_pcie"});
  request.optimizer = "adam";
  request.fates = "optimal";
  request.overrides = {"platform.devices.gpu.memory.capacity=7GB"};
  int told = 0;
  double last = 0;
  request.progress = [&](double share) {
    ++told;
    CHECK(share > last);
    CHECK(share < 1);
    last = share;
  };
  const CardFit fit = fits(request).cards.at(0);
  const std::int64_t each = std::int64_t{1024} * (2 * 768 + 2 * 50'257) * 4;
  CHECK(fit.largest <= (7'000'000'000 - 16 * std::int64_t{124'439'808}) / each);
  CHECK(fit.shortage.needed_bytes > fit.shortage.available_bytes);
  request.fates = "offload_all";
  request.progress = {};
  CHECK(fit.largest >= fits(request).cards.at(0).largest);
  CHECK(told > 0);
}

TEST_CASE("without a platform, or without a limit of memory, any number of samples fits") {
  FitsRequest request = one_layer("unlimited");
  request.batch = 10;
  for (const bool given : {true, false}) {
    if (!given) request.platforms.clear();
    const CardFit fit = fits(request).cards.at(0);
    CHECK_FALSE(fit.largest);
    CHECK_FALSE(fit.next);
    CHECK(fit.one_sample->bytes == 8'012'000);
    CHECK(fit.largest_footprint->bytes == 8'120'000);
    CHECK(fit.accumulation->micro_batch == 10);
  }
}

TEST_CASE(
    "if memory has room for more samples than a scenario allows, the scenario gives the limit") {
  FitsRequest request = one_layer("8EB");
  request.mode = "inference";
  const CardFit fit = fits(request).cards.at(0);
  CHECK(fit.largest == most_samples);
  CHECK_FALSE(fit.next);
  CHECK(fit.refusal.empty());
}

TEST_CASE(
    "for every question, the largest micro-batch fits, and a micro-batch with one more "
    "sample does not fit") {
  int checked = 0;
  for (const char* model : {"cnn_mnist", "resnet18", "unet", "squeezenet1_0", "gpt2"})
    for (const char* policy : {"resident", "streamed"})
      for (const char* fates : {"keep_all", "recompute_all", "offload_all", "sqrt", "selective"})
        for (const char* mode : {"training", "inference"}) {
          const bool trains = mode == std::string("training");
          if (!trains && fates != std::string("keep_all")) continue;
          CAPTURE(model, policy, fates, mode);
          FitsRequest request = request_of(model, {"rx7900xtx_pcie4"});
          request.mode = mode;
          request.policy = policy;
          request.fates = fates;
          if (trains) request.optimizer = "adam";
          request.overrides = {"platform.devices.gpu.memory.capacity=5GB"};
          const CardFit fit = fits(request).cards.at(0);
          REQUIRE(fit.largest.value() > 0);
          REQUIRE(fit.next);
          CHECK(fit.largest_footprint->bytes <= *fit.capacity);
          CHECK(fit.next->bytes > *fit.capacity);
          Value document = parse_text(fit.scenario, "written.yaml");
          check(make_plan(read_scenario(document, "fits")));
          document.find("workload")->set("batch", Value::make(*fit.largest + 1));
          const Scenario more = read_scenario(document, "too many");
          CHECK_THROWS_AS(check(make_plan(more)), Infeasible);
          ++checked;
        }
  CHECK(checked == 5 * 2 * 6);
}

TEST_CASE("GPT-2's embedding table is tied to its logits, and is on the device only once") {
  // GPT-2 has 124,439,808 parameters (tests/validation/test_zoo_counts.py). The embedding table has
  // 38,597,376 of these parameters.
  constexpr std::int64_t all = 124'439'808;
  FitsRequest request = request_of("gpt2", {});
  for (const char* mode : {"inference", "training"}) {
    request.mode = mode;
    for (const char* cut : {"stages.cut=single_tensor", "stages.cut=per_layer"}) {
      CAPTURE(mode, cut);
      request.overrides = {cut};
      const Footprint one = fits(request).cards.at(0).one_sample.value();
      CHECK(held(one, TensorClass::weight) == 4 * all);
    }
  }
  // The device holds the gradients of all weights and of one boundary. A boundary has 1024 tokens of 768 features.
  request.overrides = {};
  CHECK(held(*fits(request).cards.at(0).one_sample, TensorClass::gradient) ==
        4 * (all + 1024 * 768));
}

TEST_CASE(
    "with measured seconds, only bytes decide how many samples fit, and only the measured "
    "micro-batch has a step time") {
  // The layer of one_layer() was measured for 2 samples. The layer needs 8 MB, and 12 kB per sample. So 8.04 MB hold 3
  // samples. A step of 2 samples takes 1 ms + 8 us for the input, 5 + 7 ms for the computation, and 2 ms for the
  // update.
  FitsRequest request = one_layer("8.04MB");
  request.model.set("definition",
                    parse_text("format: sluice-model/1\nname: one\nmeasured_batch: 2\nlayers:\n"
                               "  - {type: input, name: x, shape: [1000]}\n"
                               "  - {type: dense, name: y, features: 1000, bias: false, "
                               "forward: 5ms, backward: 7ms}\n",
                               "one.yaml"));
  request.overrides = {"policy.overlap=false", "cost.model=measured",
                       "workload.backward=per_layer"};
  const FitsReport report = fits(request);
  CHECK(report.measured_batch == 2);
  CHECK(report.cards.at(0).largest == 3);
  CHECK_FALSE(report.cards.at(0).step_s);
  CHECK_FALSE(report.cards.at(0).accumulation);
  request.batch = 2;
  const CardFit fit = fits(request).cards.at(0);
  REQUIRE(fit.accumulation);
  CHECK(fit.accumulation->micro_batch == 2);
  CHECK(fit.accumulation->step_s == Approx(1.008e-3 + 12e-3 + 2e-3).epsilon(1e-9));
  // 8.03 MB hold 2 samples. Three samples need 8 MB + 3 x 12 kB = 8.036 MB. So 6 kB are missing.
  request.platforms = {small_platform("8.03MB")};
  const CardFit two = fits(request).cards.at(0);
  CHECK(two.largest == 2);
  CHECK(*two.step_s == Approx(1.008e-3 + 12e-3 + 2e-3).epsilon(1e-9));
  CHECK(two.next->bytes - *two.capacity == 6'000);
}

TEST_CASE("a key that has its own option cannot be overridden") {
  for (const char* override :
       {"workload.batch=3", "workload={}", "workload.steps=2", "workload.mode=training",
        "policy.name=phased", "policy={name: phased}", "fates={strategy: sqrt}",
        "memory.capacity=unlimited"}) {
    CAPTURE(override);
    FitsRequest request = one_layer("1GB");
    request.overrides = {override};
    CHECK_THROWS_AS(fits(request), UsageError);
  }
  FitsRequest request = one_layer("1GB");
  request.mode = "inference";
  request.optimizer = "adam";
  CHECK_THROWS_WITH(fits(request), Catch::Contains("'optimizer' is only for 'mode: training'"));
}

}  // namespace
}  // namespace sluice
