// Tests the seconds and bytes of training with checkpoints. They must be as in the formulas in section 4.1 of Chen,
// Xu, Zhang and Guestrin, Training deep nets with sublinear memory cost (2016). In these formulas, a chain of n equal
// stages has sqrt(n) segments. At 1 GFLOP/s, a stage of 1e6 FLOP takes 1 ms forward and 2 ms backward. The link has 1
// GB/s.
#include <catch2/catch.hpp>
#include <cmath>

#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "fates/choices.hpp"
#include "run/isolated.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

constexpr std::int64_t d = 1000;  ///< the bytes of the input and of each output

/// Returns a training plan for n stages of 1 ms. Each stage has an output of d bytes and one parameter of 4 bytes.
Plan chain_of(int n, const std::string& strategy) {
  const std::vector rows(static_cast<std::size_t>(n), test::Row{1, 4, d});
  return make_plan(test::small_scenario(d, rows,
                                        "workload: {mode: training, optimizer: none}\n"
                                        "stages: {cut: per_layer}\n"
                                        "policy: {name: resident, overlap: false}\n"
                                        "fates: {strategy: " +
                                            strategy + "}\n"));
}

struct Found {
  double seconds;
  /// The peak of the bytes of activations and their gradients. Weights and their gradients do not count.
  std::int64_t activations;
};

Found run(int n, const std::string& strategy) {
  const Plan plan = chain_of(n, strategy);
  check(plan);
  const ReplayResult replayed = replay(plan);
  CHECK(execute_isolated(plan).report.makespan == Approx(replayed.makespan).epsilon(1e-9));
  return {replayed.makespan - (4.0 * n + d) * 1e-9, replayed.peaks.front() - 2 * 4 * n};
}

TEST_CASE(
    "if all tensors are kept, n equal stages hold n + 1 tensors and two gradients, and take 3 n "
    "ms") {
  for (const int n : {4, 16, 64, 256}) {
    CAPTURE(n);
    const Found found = run(n, "keep_all");
    CHECK(found.seconds == Approx(3e-3 * n).epsilon(1e-9));
    CHECK(found.activations == (n + 3) * d);
  }
}

TEST_CASE(
    "sqrt: memory holds 2 sqrt(n) tensors and two gradients, and all stages run forward again "
    "except in the last segment and at the end of each segment") {
  // There are k = sqrt(n) segments of k stages. The peak is in the first backward pass. In this pass, the device holds
  // k checkpoints (the input is one of them), the k outputs of the last segment, and the gradients of the last two
  // outputs. The last segment does not run again. In each of the other k - 1 segments, the first k - 1 stages run
  // again. The last stage need not run again, because its output is the next checkpoint.
  for (const int k : {2, 4, 8, 16}) {
    CAPTURE(k);
    const Found found = run(k * k, "sqrt");
    CHECK(found.seconds == Approx(1e-3 * (3 * k * k + (k - 1) * (k - 1))).epsilon(1e-9));
    CHECK(found.activations == (2 * k + 2) * d);
  }
}

TEST_CASE("sqrt: if n is not a square, memory holds at most 2 sqrt(n) + 4 tensors") {
  for (const int n : {5, 12, 30, 200, 1000}) {
    CAPTURE(n);
    const Found found = run(n, "sqrt");
    CHECK(static_cast<double>(found.activations) <= (2 * std::sqrt(n) + 4) * d);
    CHECK(found.seconds <= 4e-3 * n);
  }
}

TEST_CASE(
    "checkpoint: stages without inner tensors keep the tensors that keep_all keeps, and no stage "
    "runs again") {
  const Found found = run(16, "checkpoint");
  CHECK(found.seconds == Approx(3e-3 * 16).epsilon(1e-9));
  CHECK(found.activations == (16 + 3) * d);
}

/// Returns VGG-19 for images of 224 x 224 x 3, in 24 stages. A convolution and its in-place ReLU are one stage. The
/// backward pass of such a stage reads the input and the output of the stage. A pooling layer keeps the positions of
/// its greatest inputs. The dense layers are three stages. A billion multiply-accumulates (MACs) take 1 s forward and 2
/// s backward.
Chain vgg19() {
  struct Layer {
    int kernel, channels, side;  ///< channels and side are those of the output
  };
  const std::vector<Layer> layers = {
      {3, 64, 224}, {3, 64, 224}, {2, 64, 112}, {3, 128, 112}, {3, 128, 112}, {2, 128, 56},
      {3, 256, 56}, {3, 256, 56}, {3, 256, 56}, {3, 256, 56},  {2, 256, 28},  {3, 512, 28},
      {3, 512, 28}, {3, 512, 28}, {3, 512, 28}, {2, 512, 14},  {3, 512, 14},  {3, 512, 14},
      {3, 512, 14}, {3, 512, 14}, {2, 512, 7},  {1, 4096, 1},  {1, 4096, 1},  {1, 1000, 1}};
  Chain chain;
  double inputs = 3;  // how many inputs an output reads at one position of the kernel: a MAC each
  chain.input.bytes = 4 * 3 * 224 * 224;
  for (const Layer& layer : layers) {
    if (layer.side == 1 && chain.stages.size() == 21) inputs = 512 * 7 * 7;
    const bool pools = layer.kernel == 2;
    const double outputs = 1.0 * layer.channels * layer.side * layer.side;
    ChainStage stage;
    stage.forward_s = pools ? 0 : outputs * inputs * layer.kernel * layer.kernel / 1e9;
    stage.backward_s = 2 * stage.forward_s;
    stage.output.bytes = static_cast<std::int64_t>(4 * outputs);
    stage.inner.bytes = pools ? stage.output.bytes : 0;
    stage.reads_input = stage.reads_output = !pools;
    stage.gradient = stage.output.bytes;
    inputs = layer.channels;
    chain.stages.push_back(stage);
  }
  chain.stages.back().gradient = 0;
  return chain;
}

TEST_CASE("sqrt on VGG-19: in each of four segments, all stages except the last stage run again") {
  // The round(sqrt(24)) = 5 segments are the stages 1-4, 5-9, 10-14, 15-19 and 20-24. Each of the
  // first four segments ends with a convolution, whose output is the next checkpoint. The first convolution has `first`
  // MACs. Every other convolution that runs again has `unit` = 1 849 688 064 MACs, or the share of `unit` that is shown
  // below.
  const double unit = 9.0 * 56 * 56 * 256 * 256;
  const double first = 9.0 * 3 * 64 * 224 * 224;  //    86 704 128
  const double again =
      (first + unit)  // conv 1.1, 1.2, pool
      // conv 2.2, pool, conv 3.1 and 3.2. Conv 3.1 has unit / 2, because its input has half the channels of its output
      + (unit + unit / 2 + unit) + (unit + unit / 2 + unit)  // 3.4, pool, 4.1, 4.2
      + (unit + 2 * unit / 4);                               // 4.4, pool, 5.1, 5.2
  const double all = 19'632'062'464.0;
  const Chain chain = vgg19();
  CHECK(serial_seconds(chain, tape_of(chain, std::vector(24, Fate::keep))) ==
        Approx(3 * all / 1e9).epsilon(1e-12));
  CHECK(serial_seconds(chain, sqrt_tape(chain)) == Approx((3 * all + again) / 1e9).epsilon(1e-12));
  CHECK((3 * all + again) / 1e9 <= 73.2);
}

}  // namespace
}  // namespace sluice
