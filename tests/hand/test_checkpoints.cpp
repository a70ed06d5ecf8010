// Checkpoints against the closed forms of Chen, Xu, Zhang and Guestrin, Training deep nets with
// sublinear memory cost (2016), section 4.1: a chain of n equal stages in sqrt(n) segments. 1
// GFLOP/s, so a stage of 1e6 FLOP takes 1 ms forward, 2 ms backward; 1 GB/s.
#include <catch2/catch.hpp>
#include <cmath>

#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "run/isolated.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

constexpr std::int64_t d = 1000;  ///< bytes of the input and of each output

/// n stages of 1 ms that make d bytes each; 4 bytes of weights (one parameter).
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
  std::int64_t activations;  ///< and their gradients: the peak without weights and their gradients
};

Found run(int n, const std::string& strategy) {
  const Plan plan = chain_of(n, strategy);
  check(plan);
  const ReplayResult replayed = replay(plan);
  CHECK(execute_isolated(plan).report.makespan == Approx(replayed.makespan).epsilon(1e-9));
  return {replayed.makespan - (4.0 * n + d) * 1e-9, replayed.peaks.front() - 2 * 4 * n};
}

TEST_CASE("kept, n equal stages hold n + 1 tensors and two gradients, and take 3 n") {
  for (const int n : {4, 16, 64, 256}) {
    CAPTURE(n);
    const Found found = run(n, "keep_all");
    CHECK(found.seconds == Approx(3e-3 * n).epsilon(1e-9));
    CHECK(found.activations == (n + 3) * d);
  }
}

TEST_CASE(
    "sqrt: 2 sqrt(n) tensors and two gradients, for one more forward but the last segment's") {
  // k = sqrt(n) segments of k stages. Most is held in the first backward pass: k checkpoints (the
  // input is one), the k outputs of the last segment, and the gradients of the last output and of
  // the one before. All segments but the last run again: n - k stages.
  for (const int k : {2, 4, 8, 16}) {
    CAPTURE(k);
    const Found found = run(k * k, "sqrt");
    CHECK(found.seconds == Approx(1e-3 * (3 * k * k + k * k - k)).epsilon(1e-9));
    CHECK(found.activations == (2 * k + 2) * d);
  }
}

TEST_CASE("sqrt: where n is no square, memory stays within 2 sqrt(n) + 4 tensors") {
  for (const int n : {5, 12, 30, 200, 1000}) {
    CAPTURE(n);
    const Found found = run(n, "sqrt");
    CHECK(static_cast<double>(found.activations) <= (2 * std::sqrt(n) + 4) * d);
    CHECK(found.seconds <= 4e-3 * n);
  }
}

TEST_CASE(
    "checkpoint: every stage runs twice, and its inside is there for its own backward alone") {
  // Stages without inner tensors: what it keeps is what keep_all keeps.
  const Found found = run(16, "checkpoint");
  CHECK(found.seconds == Approx(4e-3 * 16).epsilon(1e-9));
  CHECK(found.activations == (16 + 3) * d);
}

}  // namespace
}  // namespace sluice
