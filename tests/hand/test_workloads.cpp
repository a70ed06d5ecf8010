// Tests the plans of the two workloads with which tests/bench measures the speed of the engine. Their makespans must
// equal the makespans that independent programs compute: a max-plus recursion, an event queue and bare SimGrid. All
// times are whole microseconds.
#include <catch2/catch.hpp>

#include "bench/workload.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "plan/text.hpp"
#include "run/isolated.hpp"

namespace sluice {
namespace {

void require_makespan(const Plan& made, double microseconds) {
  // The plan is written as text and read again.
  const Plan plan = plan_from_text(to_text(made), "workload");
  check(plan);
  const Approx exact = Approx(microseconds * 1e-6).epsilon(1e-12);
  CHECK(replay(plan).makespan == exact);
  CHECK(execute_isolated(plan).report.makespan == exact);
}

TEST_CASE("1F1B pipelines of uneven stages end at the time that a max-plus recursion gives") {
  require_makespan(bench::pipeline_plan({.stages = 4, .micro_batches = 8}), 44'536);
  require_makespan(bench::pipeline_plan({.stages = 8, .micro_batches = 64}), 300'847);
  require_makespan(bench::pipeline_plan({.stages = 16, .micro_batches = 256}), 1'170'780);
}

// There are P stages and M micro-batches. A forward pass takes f = 1000 us, a backward pass takes b = 2000 us, and a
// transfer takes x = 640 + 10 us. Under GPipe, the last stage begins after (P-1)(f + x). It computes M forward passes
// in M f, and immediately afterwards M backward passes in M b, because it needs no gradient from another stage. Then
// the gradient of the last micro-batch goes through the other P-1 stages in (P-1)(b + x). The sum is:
//   (P-1)(f + b + 2x) + M (f + b)
TEST_CASE("a GPipe pipeline of equal stages takes the time that a formula gives") {
  for (const auto& [stages, micro_batches] : {std::pair{4, 8}, {8, 64}, {16, 256}}) {
    const double x = 640 + 10, f = 1000, b = 2000;
    const double expected = (stages - 1) * (f + b + 2 * x) + micro_batches * (f + b);
    require_makespan(bench::pipeline_plan({.stages = stages,
                                           .micro_batches = micro_batches,
                                           .one_f_one_b = false,
                                           .hashed = false}),
                     expected);
  }
}

TEST_CASE("1F1B pipelines of equal stages end at the time that a max-plus recursion gives") {
  require_makespan(bench::pipeline_plan({.stages = 4, .micro_batches = 8, .hashed = false}),
                   43'400);
  require_makespan(bench::pipeline_plan({.stages = 8, .micro_batches = 64, .hashed = false}),
                   293'600);
  require_makespan(bench::pipeline_plan({.stages = 16, .micro_batches = 256, .hashed = false}),
                   1'143'200);
}

// With one layer, no actions overlap. The forward pass takes 1000 + h us, the save and the load take 650 us each, and
// the backward pass takes 2000 + h us. A hash gives each pass its own h, from 0 to 100. The five iterations have ten
// passes, whose h add up to 476 us. So the run takes 5 x (1000 + 650 + 650 + 2000) + 476 us.
TEST_CASE("an offloaded chain of one layer takes the sum of its operations") {
  require_makespan(bench::offload_plan(1, 5), 5 * 4300 + 476);
}

TEST_CASE("an offloaded chain ends at the time that an event queue gives") {
  require_makespan(bench::offload_plan(2, 3), 22'438);
  require_makespan(bench::offload_plan(3, 4), 42'387);
  require_makespan(bench::offload_plan(12, 100), 3'850'602);
}

}  // namespace
}  // namespace sluice
