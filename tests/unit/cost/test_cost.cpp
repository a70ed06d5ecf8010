// Tests the seconds, FLOP and bytes that cost models give for passes of layers. The comments next to the numbers show
// how each number is computed.
#include <catch2/catch.hpp>

#include "cost/cost.hpp"
#include "support/models.hpp"
#include "support/stage_models.hpp"

using namespace sluice;
using Catch::Matchers::Contains;
using sluice::test::layer;

namespace {

Device device() {
  Device made;
  made.name = "gpu";
  made.rate = {{DType::float32, 10e12}, {DType::float16, 20e12}};
  made.efficiency = 0.5;
  made.memory().read = made.memory().write = 100e9;
  made.launch_overhead = 3e-6;
  made.units = 10;
  made.cache = 1000000;
  made.fit = "gpus_float32";
  return made;
}

Model sum_of_two() {
  Model model;
  model.layers = {layer("input", {}, 100, 0, 0), layer("a", {0}, 200, 50, 4000),
                  layer("sum", {0, 1}, 300, 0, 600)};
  return model;
}

/// Returns the seconds that the cost model `cost` gives for `work`. The work belongs to no layer.
double seconds(const std::string& cost, const Work& work, const Device& device,
               DType dtype = DType::float32) {
  return plain_cost(cost)->of({.device = device, .dtype = dtype, .work = work}).seconds;
}

}  // namespace

TEST_CASE("forward work reads every input and the weights, and writes the output") {
  const Model model = sum_of_two();
  // For 8 samples, layer `a` computes 8 x 4000 FLOP. For each sample, it reads 100 elements and writes 200 elements. It
  // also reads 50 weights. An element has 4 B, so the layer moves 4 x (8 x (100 + 200) + 50) = 9800 B.
  const Work a = forward_work(model, model.layers[1], 8, DType::float32);
  CHECK(a.flop == 32000);
  CHECK(a.bytes == 9800);
  // For each sample, the layer `sum` reads two inputs of 100 and 200 elements and writes 300 elements. In float16, an
  // element has 2 B, so the layer moves 2 x 8 x (100 + 200 + 300) = 9600 B.
  const Work sum = forward_work(model, model.layers[2], 8, DType::float16);
  CHECK(sum.flop == 4800);
  CHECK(sum.bytes == 9600);
}

TEST_CASE("backward work reads the kept tensors and the output's gradient, and writes gradients") {
  Model model = sum_of_two();
  Layer& a = model.layers[1];
  a.macs = 2000;
  a.backward = {.input_flop = 4000,
                .weight_flop = 4100,
                .reads_inputs = true,
                .reads_output = true,
                .kept = 7,
                .kept_bytes = 5};
  // For 8 samples, the backward pass of layer `a` computes 8 x 8100 FLOP. For each sample, it reads 507 elements: 100
  // of the input, 200 of the output, 7 kept elements and 200 of the output's gradient. It also reads 5 kept bytes per
  // sample, and the 50 weights once. Together these are 4 x (8 x 507 + 50) + 8 x 5 = 16,464 B. The pass writes the
  // gradients of the input and of the weights, which are 4 x (8 x 100 + 50) = 3400 B.
  const Work work = backward_work(model, a, 8, DType::float32);
  CHECK(work.flop == 64800);
  CHECK(work.bytes == 16464 + 3400);
  CHECK(work.written == 3400);
  // Now the input needs no gradient. So the pass writes only the gradients of the 50 weights, which have 200 B.
  a.backward.input_flop = 0;
  CHECK(backward_work(model, a, 8, DType::float32).written == 200);
  CHECK(backward_work(model, a, 8, DType::float32).bytes == 16464 + 200);
  CHECK(forward_work(model, a, 8, DType::float32).written == 4 * 8 * 200);
}

TEST_CASE(
    "an embedding reads only the rows that are looked up, and experts read one matrix per row") {
  const Model model = sluice::test::model_of(
      "- {type: input, name: tokens, shape: [3]}\n"
      "- {type: embedding, name: words, entries: 10, features: 8}\n"
      "- {type: add_embedding, name: places, entries: 5}\n"
      "- {type: expert_matmul, name: experts, experts: 16, features: 6}\n");
  const auto forward = [&](std::size_t l, std::int64_t samples) {
    return forward_work(model, model.layers[l], samples, DType::float32).bytes / 4;
  };
  const auto backward = [&](std::size_t l, std::int64_t samples) {
    return backward_work(model, model.layers[l], samples, DType::float32);
  };
  // The table of the layer `words` has 10 rows of 8 elements. For each sample, the layer reads 3 tokens, looks up 3
  // rows and writes 3 x 8 elements. Four samples look up 12 rows, but the table has only 10. So each of the 10 rows is
  // read once.
  CHECK(forward(1, 1) == 3 + 24 + 3 * 8);
  CHECK(forward(1, 3) == 3 * (3 + 24) + 9 * 8);
  CHECK(forward(1, 4) == 4 * (3 + 24) + 10 * 8);
  // The table of the layer `places` has a row for each of 5 positions. A sample has 3 tokens, so all samples read the
  // same first 3 rows.
  CHECK(forward(2, 1) == 24 + 24 + 3 * 8);
  CHECK(forward(2, 4) == 4 * (24 + 24) + 3 * 8);
  // For each sample, the layer `experts` reads 3 rows of 8 elements. It multiplies each row by one of its 16 matrices
  // of 8 x 6 elements. Five samples have 15 rows, so 15 matrices are read. Six samples have 18 rows, so all 16 matrices
  // are read.
  CHECK(forward(3, 1) == 24 + 18 + 3 * 48);
  CHECK(forward(3, 5) == 5 * (24 + 18) + 15 * 48);
  CHECK(forward(3, 6) == 6 * (24 + 18) + 16 * 48);
  // The backward pass reads the same matrices as the forward pass. For each matrix that it reads, it writes a gradient
  // of the same size.
  CHECK(backward(3, 2).written == 4 * (2 * 24 + 6 * 48));
  CHECK(backward(3, 2).bytes == 4 * (2 * (24 + 18 + 24) + 2 * 6 * 48));
  // The cost model counts a gradient for each element of an input. So it also counts one for each token, although
  // tokens have no gradients.
  CHECK(backward(1, 1).written == 4 * (3 + 3 * 8));
}

TEST_CASE(
    "layers before the first weights have no backward pass, unless their backward pass was measured") {
  const std::string input = "- {type: input, name: x, shape: [20]}\n";
  const std::string tail = "- {type: dense, name: y, features: 5, bias: false}\n- {type: relu}\n";
  const auto bytes = [](const Model& model, std::size_t l) {
    return backward_work(model, model.layers[l], 1, DType::float32).bytes;
  };
  const Model plain = sluice::test::model_of(input + "- {type: relu}\n" + tail);
  CHECK_FALSE(plain.layers[1].backward.runs);
  CHECK(bytes(plain, 1) == 0);
  CHECK(plain.layers[2].backward.runs);
  CHECK(bytes(plain, 2) == 4 * (20 + 5 + 2 * 100));  // the layer's input gets no gradient
  CHECK(bytes(plain, 3) == 4 * (5 + 5 + 5));
  // Now the model gives measured seconds for the backward pass of the first relu, so this relu has a backward pass. The
  // pass reads the gradient of the output (20 elements) and the 20 elements that the relu keeps. It writes the gradient
  // of the input (20 elements).
  const Model measured = sluice::test::model_of(
      input + "- {type: relu, forward: 1ms, backward: 1ms}\n" + tail, "", "measured_batch: 1\n");
  CHECK(bytes(measured, 1) == 4 * (20 + 20 + 20));
  CHECK(bytes(measured, 2) == 4 * (20 + 20 + 5 + 2 * 100));
}

TEST_CASE("an input layer does no work and takes no time") {
  const Model model = sum_of_two();
  const Device gpu = device();
  const Query input = query_of(model, model.layers[0], Pass::forward, 8, DType::float32, gpu);
  CHECK(input.work.flop == 0);
  CHECK(input.work.bytes == 0);
  for (const CostModel* cost : cost_catalog().entries())
    CHECK(plain_cost(cost->name)->of(input).seconds == 0);
}

TEST_CASE("under peak, the seconds are FLOP / (rate x efficiency)") {
  // The 1e9 FLOP take 1e9 / (10e12 x 0.5) = 2e-4 s. In float16, the device has twice the rate, so the same FLOP take
  // half as long.
  CHECK(seconds("peak", {1e9, 1e15}, device()) == 1e9 / 5e12);
  CHECK(seconds("peak", {1e9, 0}, device(), DType::float16) == 1e9 / 10e12);
  CHECK_THROWS_WITH(seconds("peak", {1, 0}, device(), DType::int8), Contains("no rate for int8"));
}

TEST_CASE("roofline takes the seconds of FLOP or of bytes, whichever are more, plus a launch") {
  // The computation takes 1e9 / 5e12 = 200 us, and access to the memory takes 1e6 / 100e9 = 10 us. The price is the
  // longer time, 200 us, plus 3 us for the launch.
  CHECK(seconds("roofline", {1e9, 1e6}, device()) == Approx(203e-6).epsilon(1e-12));
  // The computation takes 1e6 / 5e12 = 0.2 us, and access to the memory takes 1e8 / 100e9 = 1 ms. The price is the
  // longer time, 1 ms, plus 3 us for the launch.
  CHECK(seconds("roofline", {1e6, 1e8}, device()) == Approx(1003e-6).epsilon(1e-12));
  // A copy has no FLOP. Its bytes take 1 ms, and its launch takes 3 us, too.
  CHECK(seconds("roofline", {0, 1e8}, device(), DType::int8) == Approx(1003e-6).epsilon(1e-12));
}

TEST_CASE("under roofline, each rate is multiplied by its efficiency") {
  Value keys = Value::make_map();
  keys.set("model", Value::make(std::string("roofline")));
  keys.set("compute_efficiency", Value::make(0.5));
  keys.set("memory_efficiency", Value::make(0.8));
  const ChosenCost cost = choose_cost(keys, "", Platform{});
  const Device gpu = device();
  // A launch takes 3 us. At the full rates, the FLOP of the first work take 200 us, and its bytes take 10 us. With the
  // efficiencies 0.5 and 0.8, the work takes max(200 / 0.5, 10 / 0.8) + 3 = 403 us. At the full rates, the FLOP of the
  // second work take 0.2 us, and its bytes take 1 ms. With the efficiencies, the work takes max(0.2 / 0.5, 1000 / 0.8)
  // + 3 = 1253 us.
  CHECK(cost->of({.device = gpu, .work = {1e9, 1e6}}).seconds == Approx(403e-6).epsilon(1e-12));
  CHECK(cost->of({.device = gpu, .work = {1e6, 1e8}}).seconds == Approx(1253e-6).epsilon(1e-12));
}

TEST_CASE("the default cost model is roofline, or peak if a device has no memory bandwidth") {
  Platform platform;
  platform.devices = {device(), device()};
  const Value nothing = Value::make_map();
  CHECK(default_cost(platform).name == "roofline");
  CHECK(choose_cost(nothing, "", platform).name() == "roofline");
  // The keys do not name a cost model. So they belong to the default cost model, which is roofline here.
  Value half = Value::make_map();
  half.set("memory_efficiency", Value::make(0.5));
  const ChosenCost halved = choose_cost(half, "", platform);
  CHECK(halved.name() == "roofline");
  // At the full bandwidth, 1e8 B take 1e8 / 100e9 = 1 ms. At half the bandwidth, they take 2 ms. The launch adds 3 us.
  CHECK(halved->of({.device = device(), .work = {0, 1e8}}).seconds == Approx(2003e-6));
  platform.devices.back().memory().read.reset();
  CHECK(default_cost(platform).name == "peak");
  CHECK(choose_cost(nothing, "", platform).name() == "peak");
  CHECK_THROWS_WITH(choose_cost(half, "", platform), Contains("memory_efficiency"));
  Value named = Value::make_map();
  named.set("model", Value::make(std::string("roofline")));
  CHECK(choose_cost(named, "", platform).name() == "roofline");
}

TEST_CASE("an answer can say which rates a device reaches under a cost model") {
  Device gpu = device();  // the device has 10e12 FLOP/s, of which it reaches half
  gpu.roofline = {.compute = 0.7, .memory = 0.6};
  CHECK(reached_text(*plain_cost("peak"), gpu, DType::float32) == "100 % of 5 TFLOP/s");
  CHECK(reached_text(*plain_cost("roofline"), gpu, DType::float16) ==
        "70 % of 10 TFLOP/s and 60 % of 100 GB/s");
  CHECK(reached_text(*plain_cost("measured"), gpu, DType::float32).empty());
}

TEST_CASE("roofline refuses a device without memory bandwidth") {
  Device without = device();
  without.memory().read.reset();
  CHECK_THROWS_WITH(seconds("roofline", {1, 1}, without),
                    Contains("device 'gpu' has no memory bandwidth"));
}

TEST_CASE("for each kind of pass, the price of a query is the price of its work") {
  Model model = sum_of_two();
  Layer& a = model.layers[1];
  a.macs = 2000;
  a.backward = {.input_flop = 3000, .weight_flop = 1000, .reads_inputs = true};
  const Device gpu = device();  // the device has 5e12 FLOP/s, 100e9 B/s, and 3 us per launch
  struct Case {
    Pass pass;
    double flop, bytes;
  };
  // The forward pass computes 8 x 4000 FLOP and moves 4 x (8 x (100 + 200) + 50) = 9800 B. The backward pass computes 8
  // x 4000 FLOP, too. It reads the input, the gradient of the output and the weights: 4 x (8 x (100 + 200) + 50) = 9800
  // B. It writes the gradients of the input and of the weights: 4 x (8 x 100 + 50) = 3400 B. Together these are 13,200
  // B. Three quarters of the FLOP compute the gradient of the input, and one quarter computes the gradient of the
  // weights. The bytes are divided in the same way.
  for (const Case& one :
       {Case{Pass::forward, 32000, 9800}, Case{Pass::recompute, 32000, 9800},
        Case{Pass::backward, 32000, 13200}, Case{Pass::backward_input, 24000, 9900},
        Case{Pass::backward_weight, 8000, 3300}}) {
    INFO(name_of(one.pass));
    const Query query = query_of(model, a, one.pass, 8, DType::float32, gpu);
    const Price peak = plain_cost("peak")->of(query), roofline = plain_cost("roofline")->of(query);
    CHECK(peak.seconds == Approx(one.flop / 5e12).epsilon(1e-12));
    CHECK(roofline.seconds == Approx(one.bytes / 100e9 + 3e-6).epsilon(1e-12));
    for (const Price& price : {peak, roofline}) {
      CHECK(price.flop == one.flop);
      CHECK(price.bytes == one.bytes);
      CHECK(price.measured_s == 0);
      CHECK(price.joules_s == 0);
    }
  }
}

TEST_CASE(
    "a gradient takes its share of a layer's measured seconds, in proportion to FLOP, and the "
    "price says that it was measured") {
  Model model = sum_of_two();
  model.measured_batch = 8;
  Layer& a = model.layers[1];
  a.backward = {.input_flop = 3000, .weight_flop = 1000};
  a.forward_s = 2e-3;
  a.backward_s = 4e-3;
  const Device gpu = device();
  const auto price = [&](Pass pass) {
    return plain_cost("measured")->of(query_of(model, a, pass, 8, DType::float32, gpu));
  };
  for (const auto& [pass, expected] : {std::pair{Pass::forward, 2e-3},
                                       {Pass::recompute, 2e-3},
                                       {Pass::backward, 4e-3},
                                       {Pass::backward_input, 3e-3},
                                       {Pass::backward_weight, 1e-3}}) {
    INFO(name_of(pass));
    CHECK(price(pass).seconds == expected);
    CHECK(price(pass).measured_s == expected);
    CHECK(price(pass).flop > 0);
  }
  // An update belongs to no layer, so there are no measured seconds for it. Its 1e6 FLOP take 1e6 / 5e12 s.
  const Price update =
      plain_cost("measured")->of({.device = gpu, .pass = Pass::update, .work = {.flop = 1e6}});
  CHECK(update.seconds == 2e-7);
  CHECK(update.measured_s == 0);
  CHECK(plain_cost("measured")->only_samples(model) == 8);
  CHECK(plain_cost("peak")->only_samples(model) == 0);
}

TEST_CASE("prices add up, and a multiple of a measured price does not count as measured") {
  Price sum{.seconds = 2, .flop = 3, .bytes = 4, .measured_s = 1, .joules = 5, .joules_s = 0.5};
  sum += {.seconds = 1, .flop = 1, .bytes = 1, .measured_s = 1, .joules = 1, .joules_s = 1};
  CHECK(sum.seconds == 3);
  CHECK(sum.flop == 4);
  CHECK(sum.bytes == 5);
  CHECK(sum.measured_s == 2);
  CHECK(sum.joules == 6);
  CHECK(sum.joules_s == 1.5);
  const Price twice = multiple_of(sum, 2);
  CHECK(twice.seconds == 6);
  CHECK(twice.flop == 8);
  CHECK(twice.bytes == 10);
  CHECK(twice.measured_s == 0);
  CHECK(twice.joules == 12);
  CHECK(twice.joules_s == 3);
}

TEST_CASE("every cost model has a name, a summary and a source, and never gives negative seconds") {
  for (const CostModel* cost : cost_catalog().entries()) {
    INFO(cost->name);
    CHECK_FALSE(cost->summary.empty());
    CHECK_FALSE(cost->source.empty());
    double before = 0;
    for (const double scale : {0.0, 1.0, 10.0, 1e6}) {
      const double now = seconds(cost->name, {scale * 1e6, scale * 1e3}, device());
      CHECK(now >= before);  // more work never takes fewer seconds
      before = now;
    }
    CHECK(before > 0);
  }
  CHECK_THROWS_WITH(plain_cost("rofline"), Contains("did you mean 'roofline'"));
}
