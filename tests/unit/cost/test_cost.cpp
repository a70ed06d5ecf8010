// Cost models, each number worked out beside it.
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
  made.memory_bandwidth = 100e9;
  made.launch_overhead = 3e-6;
  return made;
}

Model sum_of_two() {
  Model model;
  model.layers = {layer("input", {}, 100, 0, 0), layer("a", {0}, 200, 50, 4000),
                  layer("sum", {0, 1}, 300, 0, 600)};
  return model;
}

}  // namespace

TEST_CASE("forward work reads every input and the weights and writes the output") {
  const Model model = sum_of_two();
  // a: 8 samples x 4000 FLOP; 4 B x (8 x (100 + 200) + 50) = 9800 B
  const Work a = forward_work(model, model.layers[1], 8, DType::float32);
  CHECK(a.flop == 32000);
  CHECK(a.bytes == 9800);
  // sum: two inputs, 2 B x 8 x (100 + 200 + 300) = 9600 B
  const Work sum = forward_work(model, model.layers[2], 8, DType::float16);
  CHECK(sum.flop == 4800);
  CHECK(sum.bytes == 9600);
}

TEST_CASE("backward work reads what is kept and the gradient, and writes gradients") {
  Model model = sum_of_two();
  Layer& a = model.layers[1];
  a.macs = 2000;
  a.backward = {.input_flop = 4000,
                .weight_flop = 4100,
                .reads_inputs = true,
                .reads_output = true,
                .kept = 7,
                .kept_bytes = 5};
  // 8 samples x 8100 FLOP. Read, 4 B x (8 x (input 100 + output 200 + 7 + gradient 200) + weights
  // 50) + 8 x 5 = 16,464 B. Written, 4 B x (8 x gradient 100 + gradient 50) = 3400 B.
  const Work work = backward_work(model, a, 8, DType::float32);
  CHECK(work.flop == 64800);
  CHECK(work.bytes == 16464 + 3400);
  CHECK(work.written == 3400);
  // Without a gradient of the input, 50 weights' alone.
  a.backward.input_flop = 0;
  CHECK(backward_work(model, a, 8, DType::float32).written == 200);
  CHECK(backward_work(model, a, 8, DType::float32).bytes == 16464 + 200);
  CHECK(forward_work(model, a, 8, DType::float32).written == 4 * 8 * 200);
}

TEST_CASE("of a table the rows looked up are read, of experts' matrices one for each row") {
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
  // A sample: 3 tokens, 3 x 8 out, and 3 of 10 rows of 8; 4 samples would look up 12.
  CHECK(forward(1, 1) == 3 + 24 + 3 * 8);
  CHECK(forward(1, 3) == 3 * (3 + 24) + 9 * 8);
  CHECK(forward(1, 4) == 4 * (3 + 24) + 10 * 8);
  // The first 3 of 5 places, for every sample.
  CHECK(forward(2, 1) == 24 + 24 + 3 * 8);
  CHECK(forward(2, 4) == 4 * (24 + 24) + 3 * 8);
  // 3 rows of 8 meet 3 of 16 matrices of 8 x 6; 6 samples have 18 rows.
  CHECK(forward(3, 1) == 24 + 18 + 3 * 48);
  CHECK(forward(3, 5) == 5 * (24 + 18) + 15 * 48);
  CHECK(forward(3, 6) == 6 * (24 + 18) + 16 * 48);
  // Backwards the matrices that were read are read again, and as large a gradient is written.
  CHECK(backward(3, 2).written == 4 * (2 * 24 + 6 * 48));
  CHECK(backward(3, 2).bytes == 4 * (2 * (24 + 18 + 24) + 2 * 6 * 48));
  // The tokens are no numbers to have gradients of, but counted like all inputs.
  CHECK(backward(1, 1).written == 4 * (3 + 3 * 8));
}

TEST_CASE("no backward pass before the first weights, unless one was measured") {
  const std::string input = "- {type: input, name: x, shape: [20]}\n";
  const std::string tail = "- {type: dense, name: y, features: 5, bias: false}\n- {type: relu}\n";
  const auto bytes = [](const Model& model, std::size_t l) {
    return backward_work(model, model.layers[l], 1, DType::float32).bytes;
  };
  const Model plain = sluice::test::model_of(input + "- {type: relu}\n" + tail);
  CHECK_FALSE(plain.layers[1].backward.runs);
  CHECK(bytes(plain, 1) == 0);
  CHECK(plain.layers[2].backward.runs);
  CHECK(bytes(plain, 2) == 4 * (20 + 5 + 2 * 100));  // its input gets no gradient
  CHECK(bytes(plain, 3) == 4 * (5 + 5 + 5));
  // As measured, the relu passes a gradient on: 20 of it, 20 of its input's, 20 it keeps.
  const Model measured = sluice::test::model_of(
      input + "- {type: relu, forward: 1ms, backward: 1ms}\n" + tail, "", "measured_batch: 1\n");
  CHECK(bytes(measured, 1) == 4 * (20 + 20 + 20));
  CHECK(bytes(measured, 2) == 4 * (20 + 20 + 5 + 2 * 100));
}

TEST_CASE("an input layer does no work and takes no time") {
  const Model model = sum_of_two();
  const Work input = forward_work(model, model.layers[0], 8, DType::float32);
  CHECK(input.flop == 0);
  CHECK(input.bytes == 0);
  for (const CostModel* cost : cost_catalog().entries())
    CHECK(cost->seconds(input, device(), DType::float32) == 0);
}

TEST_CASE("peak is FLOP over rate times efficiency") {
  const CostModel& peak = cost_catalog().find("peak");
  // 1e9 / (10e12 x 0.5) = 2e-4 s; half of that at twice the rate
  CHECK(peak.seconds({1e9, 1e15}, device(), DType::float32) == 1e9 / 5e12);
  CHECK(peak.seconds({1e9, 0}, device(), DType::float16) == 1e9 / 10e12);
  CHECK_THROWS_WITH(peak.seconds({1, 0}, device(), DType::int8), Contains("no rate for int8"));
}

TEST_CASE("roofline is the longer of compute and memory, plus the launch") {
  const CostModel& roofline = cost_catalog().find("roofline");
  // 1e9 / 5e12 = 200 us of compute against 1e6 / 100e9 = 10 us of memory; + 3 us
  CHECK(roofline.seconds({1e9, 1e6}, device(), DType::float32) == Approx(203e-6).epsilon(1e-12));
  // 1e6 / 5e12 = 0.2 us against 1e8 / 100e9 = 1 ms; + 3 us
  CHECK(roofline.seconds({1e6, 1e8}, device(), DType::float32) == Approx(1003e-6).epsilon(1e-12));
  // a copy: no FLOP, still launched
  CHECK(roofline.seconds({0, 1e8}, device(), DType::int8) == Approx(1003e-6).epsilon(1e-12));
}

TEST_CASE("roofline refuses a device without memory bandwidth") {
  Device without = device();
  without.memory_bandwidth.reset();
  CHECK_THROWS_WITH(cost_catalog().find("roofline").seconds({1, 1}, without, DType::float32),
                    Contains("device 'gpu' has no memory bandwidth"));
}

TEST_CASE("every cost model has a name, a summary and a source, and never takes negative time") {
  for (const CostModel* cost : cost_catalog().entries()) {
    INFO(cost->name);
    CHECK_FALSE(cost->summary.empty());
    CHECK_FALSE(cost->source.empty());
    double before = 0;
    for (const double scale : {0.0, 1.0, 10.0, 1e6}) {
      const double seconds =
          cost->seconds({scale * 1e6, scale * 1e3, scale}, device(), DType::float32);
      CHECK(seconds >= before);  // more work never takes less
      before = seconds;
    }
    CHECK(before > 0);
  }
  CHECK_THROWS_WITH(cost_catalog().find("rofline"), Contains("did you mean 'roofline'"));
}
