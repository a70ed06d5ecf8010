// Tests which executor runs a plan. Also tests the message of a run with both executors if their results differ.
#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "run/comparison.hpp"
#include "run/executor.hpp"
#include "support/random_plan.hpp"
#include "trace/memory_sink.hpp"

namespace sluice {
namespace {

Plan loop(std::int64_t iterations) {
  Plan plan;
  plan.streams.push_back({"gpu.compute", StreamKind::compute, "gpu", 0, 0});
  Action action;
  action.name = "0F0";
  action.stream = 0;
  action.seconds = 1;
  plan.actions.push_back(action);
  plan.body_end = 1;
  plan.iterations = iterations;
  return plan;
}

TEST_CASE(
    "auto chooses SimGrid for up to 100,000 executed actions, and the replay for more actions") {
  CHECK(resolved(Executor::automatic, loop(100'000)) == Executor::simgrid);
  CHECK(resolved(Executor::automatic, loop(100'001)) == Executor::replay);
  CHECK(resolved(Executor::simgrid, loop(100'001)) == Executor::simgrid);
  for (const std::string& name : executor_names()) CHECK(name_of(executor_named(name)) == name);
  CHECK_THROWS_AS(executor_named("repaly"), UsageError);
}

TEST_CASE(
    "for up to 100,000 actions, the replay leaves out no period, so its times are sums of seconds") {
  Plan plan = loop(1000);
  plan.actions.front().seconds = 0.1;
  MemorySink each;
  execute(plan, Executor::replay, each, {});
  REQUIRE(each.spans.size() == 1000);
  double end = 0;
  for (const Span& span : each.spans) {
    CHECK(span.start == end);
    end += 0.1;
    CHECK(span.end == end);
  }
  // SimGrid adds up the seconds of all periods. If the replay leaves out periods, it multiplies the seconds of one
  // period by the number of periods. This product differs from the sum in the last bits.
  MemorySink skipped;
  replay(plan, skipped);
  CHECK(skipped.spans.back().end == Approx(end).epsilon(1e-12));
  CHECK(skipped.spans.back().end != end);
}

TEST_CASE("if times differ between the executors by more than the tolerance, the span is named") {
  const Plan plan = loop(3);
  NullSink nothing;
  Times times(plan, nothing);
  replay(plan, times);
  const auto second = [&](double shift, int spans) {
    Comparison comparison(plan, times, 3e-9);
    for (int i = 0; i < spans; ++i) {
      const double start = i + (i == 1 ? shift : 0);
      comparison.span({0, i, start, start + 1, start + 1});
    }
    comparison.finish();
  };
  CHECK_NOTHROW(second(2.9e-9, 3));
  CHECK_THROWS_WITH(second(3.1e-9, 3), Catch::Contains("0F0 (iteration 1) on gpu.compute"));
  CHECK_THROWS_WITH(second(0, 2), Catch::Contains("leaves out '0F0'"));
  CHECK_THROWS_WITH(second(0, 4), Catch::Contains("not executed"));
}

TEST_CASE("without a tolerance, the message names a span that differs in the last bit") {
  const Plan plan = loop(1);
  NullSink nothing;
  Times times(plan, nothing);
  replay(plan, times);
  Comparison same(plan, times, 0), other(plan, times, 0);
  CHECK_NOTHROW(same.span({0, 0, 0.0, 1.0, 1.0}));
  CHECK_THROWS_WITH(other.span({0, 0, 0.0, std::nextafter(1.0, 2.0), 1.0}),
                    Catch::Contains("0F0 (iteration 0) on gpu.compute"));
}

}  // namespace
}  // namespace sluice
