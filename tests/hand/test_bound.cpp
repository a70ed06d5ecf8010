// Tests the lower bound of a plan, and which resource binds. All expected numbers are calculated by hand.
#include <catch2/catch.hpp>
#include <chrono>

#include "execute/arithmetic/replay.hpp"
#include "metrics/bound.hpp"
#include "metrics/paths.hpp"
#include "plan/tables.hpp"
#include "support/campaign.hpp"
#include "support/random_plan.hpp"

namespace sluice {
namespace {

Action compute(std::uint32_t stream, double seconds, Few<Wait, 2> waits = {}) {
  Action action;
  action.stream = stream;
  action.seconds = seconds;
  action.waits = std::move(waits);
  return action;
}

Action move(std::uint32_t stream, std::uint32_t route, std::int64_t bytes,
            Few<Wait, 2> waits = {}) {
  Action action;
  action.kind = ActionKind::load;
  action.stream = stream;
  action.flows = {{.tensor = 0, .route = route, .bytes = bytes}};
  action.waits = std::move(waits);
  return action;
}

/// Returns a plan for devices a and b behind one link of 100 byte/s. The route to each device has a setup of 0.5 s and
/// a latency of 0.25 s. Streams 0 and 1 compute on a and b, and streams 2 and 3 copy to a and b.
Plan two_devices() {
  Plan plan;
  plan.links = {{"host", 100, 0, 0}};
  plan.routes = {{"host>a", {0}, 0.5, 0.25}, {"host>b", {0}, 0.5, 0.25}};
  plan.streams = {{"a", StreamKind::compute, "a", 0, 0},
                  {"b", StreamKind::compute, "b", 0, 0},
                  {"a.host", StreamKind::copy, "a", 0, 0},
                  {"b.host", StreamKind::copy, "b", 0, 0}};
  plan.tensors.resize(1);
  return plan;
}

void body(Plan& plan, std::vector<Action> actions, std::int64_t iterations) {
  plan.actions = std::move(actions);
  plan.body_begin = 0;
  plan.body_end = static_cast<std::uint32_t>(plan.actions.size());
  plan.iterations = iterations;
}

}  // namespace

TEST_CASE(
    "The bound of a link that two devices share counts the setup, all bytes, and the last "
    "computation") {
  Plan plan = two_devices();
  body(plan, {move(2, 0, 100), compute(0, 1, {{0, 0}}), move(3, 1, 100), compute(1, 1, {{2, 0}})},
       3);
  // The bound of the link has 0.5 s of setup, 2 devices x 3 loads x 1 s, 0.25 s of latency, and 1 s of computation. The
  // sum is 7.75 s. The bound of a copy engine with 3 loads is 3 x (0.5 + 1) + 0.25 + 1 = 5.75 s.
  const Bound bound = lower_bound(plan);
  REQUIRE(bound.seconds == Approx(7.75).epsilon(1e-12));
  REQUIRE(bound.resource == "host");
}

TEST_CASE("The bound of a link counts the shortest work before and after its transfers") {
  Plan plan = two_devices();
  // The load of device a does not wait, and 5 s of computation follow it. The load of device b
  // waits for 2 s of computation, and no action follows it.
  body(plan, {move(2, 0, 300), compute(0, 5, {{0, 0}}), compute(1, 2), move(3, 1, 900, {{2, 0}})},
       1);
  // The bound of the link is 0.5 + (300 + 900) / 100 + 0.25 = 12.75 s. The bound of b is 2 + 0.5 + 9 + 0.25 = 11.75 s.
  const Bound bound = lower_bound(plan);
  REQUIRE(bound.seconds == Approx(12.75).epsilon(1e-12));
  REQUIRE(bound.resource == "host");
}

TEST_CASE(
    "The bound of a copy engine includes the work before its first and after its last transfer") {
  Plan plan = two_devices();
  body(plan, {move(2, 0, 100), compute(0, 1, {{0, 0}})}, 10);
  // The bound of the copy engine is 10 x (0.5 + 1) + 0.25 + 1 = 16.25 s. The setups of later transfers do not occupy
  // the link. So the bound of the link is only 0.5 + 10 x 1 + 0.25 + 1 = 11.75 s.
  const Bound bound = lower_bound(plan);
  REQUIRE(bound.seconds == Approx(16.25).epsilon(1e-12));
  REQUIRE(bound.resource == "a.host");
}

TEST_CASE("A resource binds if its bound is within 1 % of the longest path") {
  // Four actions run one after the other: a load (0.5 + 0.5 + 0.25 s), a computation of `first` s, a second load, and a
  // computation of 3 s.
  const auto bound_of = [](double first) {
    Plan plan = two_devices();
    body(plan,
         {move(2, 0, 50), compute(0, first, {{0, 0}}), move(2, 0, 50, {{1, 0}}),
          compute(0, 3, {{2, 0}})},
         1);
    return lower_bound(plan);
  };
  // Together, the four actions take 5.5 + first s, which is the longest path. The bound of device a is 4.25 + first s.
  // For first = 119, this bound is 123.25 / 124.5 = 0.98996 of the path. That is less than 99 %, so device a does not
  // bind. For first = 120, it is 124.25 / 125.5 = 0.99004 of the path.
  REQUIRE(bound_of(119).seconds == 124.5);
  REQUIRE(bound_of(119).resource == "dependencies");
  REQUIRE(bound_of(120).seconds == 125.5);
  REQUIRE(bound_of(120).resource == "a");
}

TEST_CASE("A resource whose own work takes less than half of the bound does not bind") {
  // Device a computes for 8.25 s. Its copy engine transfers 100 B in 0.5 + 1 + 0.25 s. Device b computes for `last` s.
  // The three actions follow each other. So all three streams have the bound 10 + `last` s. The copy engine works for
  // only 0.5 + 1 = 1.5 s.
  const auto bound_of = [](double last) {
    Plan plan = two_devices();
    body(plan, {compute(0, 8.25), move(2, 0, 100, {{0, 0}}), compute(1, last, {{1, 0}})}, 1);
    return lower_bound(plan);
  };
  REQUIRE(bound_of(0).seconds == Approx(10).epsilon(1e-12));
  REQUIRE(bound_of(0).resource == "a");
  // With last = 9, the bound is 19 s. Device a works for 8.25 / 19 = 0.43 of the bound. Device b works for 9 / 19 =
  // 0.47 of the bound. With last = 11, the bound is 21 s, and device b works for 11 / 21 = 0.52 of the bound.
  REQUIRE(bound_of(9).resource == "dependencies");
  REQUIRE(bound_of(11).resource == "b");
}

TEST_CASE("Without overlap, the reason for the bound is dependencies instead of a resource") {
  Plan plan = two_devices();
  // The load of iteration i waits for the computation of iteration i - 1.
  body(plan, {move(2, 0, 50, {{1, 1}}), compute(0, 2, {{0, 0}})}, 3);
  // The bound is 3 x (0.5 + 0.5 + 0.25 + 2) = 9.75 s.
  const Bound bound = lower_bound(plan);
  REQUIRE(bound.seconds == Approx(9.75).epsilon(1e-12));
  REQUIRE(bound.resource == "dependencies");
}

TEST_CASE("If several resources have equal bounds, the resource that works longest binds") {
  // Devices a and b have equal bounds of 1002 s. The bound of a is its own 2 s plus the later 1000 s of b. The bound of
  // b is its own 1000 s plus the earlier 2 s of a. In the second plan, the computation of a waits for a transfer, which
  // takes 1.75 s. So both bounds are 1003.75 s.
  Plan plan = two_devices();
  body(plan, {compute(0, 2), compute(1, 1000, {{0, 0}})}, 1);
  REQUIRE(lower_bound(plan).seconds == Approx(1002).epsilon(1e-12));
  REQUIRE(lower_bound(plan).resource == "b");
  body(plan, {move(3, 1, 100), compute(0, 2, {{0, 0}}), compute(1, 1000, {{1, 0}})}, 1);
  REQUIRE(lower_bound(plan).seconds == Approx(1003.75).epsilon(1e-12));
  REQUIRE(lower_bound(plan).resource == "b");
  // The bounds differ by more than 1 %. So the resource with the greatest bound binds. Device a alone takes 1200 s, and
  // the bound of device b is 2 + 1000 s.
  body(plan, {compute(0, 2), compute(1, 1000, {{0, 0}}), compute(0, 1198)}, 1);
  REQUIRE(lower_bound(plan).seconds == Approx(1200).epsilon(1e-12));
  REQUIRE(lower_bound(plan).resource == "a");
}

TEST_CASE("The bound does not count loads for iterations after the last iteration") {
  Plan plan = two_devices();
  // The prologue has the load for iteration 0. The body has a computation and the load for the next iteration. In the
  // last iteration, this load is dropped.
  plan.actions = {move(2, 0, 100), move(2, 0, 100), compute(0, 0.5, {{0, 0}, {1, 1}})};
  plan.actions[1].ahead = 1;
  plan.body_begin = 1;
  plan.body_end = 3;
  plan.iterations = 4;
  // Four loads take 1.5 s each. Then 0.25 s of latency and 0.5 s of computation follow.
  const Bound bound = lower_bound(plan);
  REQUIRE(bound.seconds == Approx(6.75).epsilon(1e-12));
  REQUIRE(bound.resource == "a.host");
}

TEST_CASE(
    "The bound follows waits for actions that are listed later, and waits of the epilogue for the body") {
  Plan plan = two_devices();
  // In the body, the computation of b is listed first and waits for the computation of a. In the epilogue, a transfer
  // follows the last computation of b.
  plan.actions = {compute(1, 3, {{1, 0}}), compute(0, 2), move(3, 1, 100, {{0, 0}})};
  plan.body_begin = 0;
  plan.body_end = 2;
  plan.iterations = 5;
  // The computations of device b end after 2 + 5 x 3 s. The last transfer takes 0.5 + 1 + 0.25 s.
  const Bound bound = lower_bound(plan);
  REQUIRE(bound.seconds == Approx(18.75).epsilon(1e-12));
  REQUIRE(bound.resource == "b");
}

TEST_CASE(
    "The bound of 10^9 iterations is computed quickly, from the first, middle and last "
    "iterations") {
  Plan plan = two_devices();
  plan.actions = {move(2, 0, 100), compute(0, 1e-6, {{0, 0}}), compute(1, 2, {{1, 0}})};
  plan.body_begin = 1;
  plan.body_end = 2;
  plan.iterations = 1'000'000'000;
  const auto start = std::chrono::steady_clock::now();
  const Bound bound = lower_bound(plan);
  // The load takes 0.5 + 1 + 0.25 s. The 1e9 computations of the body take 1 us each. The epilogue takes 2 s.
  REQUIRE(bound.seconds == Approx(1003.75).epsilon(1e-9));
  REQUIRE(bound.resource == "a");
  REQUIRE(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

TEST_CASE("No replay of a random plan is faster than its bound", "[property]") {
  int ended = 0;
  for (unsigned seed = 0; seed < test::cases_of(300u); ++seed) {
    const Plan plan = test::random_plan(seed);
    const ReplayResult result = replay(plan);
    if (result.blocking) continue;
    ++ended;
    INFO("seed " << seed);
    REQUIRE(lower_bound(plan).seconds <= result.makespan * (1 + 1e-12));
  }
  REQUIRE(ended > 50);
}

TEST_CASE("Counting all iterations at once gives the bound that visiting each iteration gives",
          "[property]") {
  int ended = 0;
  for (unsigned seed = 0; seed < test::cases_of(300u); ++seed) {
    Plan plan = test::random_plan(seed);
    for (Pool& pool : plan.pools) pool.enforced = false;
    plan.iterations = 1000;
    const ReplayResult result = replay(plan);
    if (result.blocking || !PlanTables(plan).contention_free()) continue;
    ++ended;
    INFO("seed " << seed);
    REQUIRE(walk_forwards(PathGraph(plan), 100'000'000).latest_available ==
            Approx(result.makespan).epsilon(1e-12));
  }
  REQUIRE(ended > 50);
}

TEST_CASE(
    "A stream with more seconds per iteration overtakes another stream, and then determines "
    "the bound") {
  // Device a begins after 100 s of the prologue and takes 1 s per iteration. Device b begins at once and takes 1.5 s
  // per iteration. A third stream waits for both devices, and adds 0.25 s at the end. So the bound of n iterations is
  // max(100 + n, 1.5 n) + 0.25 s. Both terms are equal at n = 200.
  const auto last = [](std::int64_t iterations) {
    Plan plan = two_devices();
    plan.streams.push_back({"c", StreamKind::compute, "a", 0, 0});
    plan.actions = {compute(4, 100), compute(0, 1, {{0, 0}}), compute(1, 1.5),
                    compute(4, 0.25, {{1, 0}, {2, 0}})};
    plan.body_begin = 1;
    plan.body_end = 4;
    plan.iterations = iterations;
    return walk_forwards(PathGraph(plan), 100'000'000).latest_available;
  };
  REQUIRE(last(10) == Approx(110.25).epsilon(1e-14));
  REQUIRE(last(199) == Approx(299.25).epsilon(1e-14));
  REQUIRE(last(201) == Approx(301.75).epsilon(1e-14));
  REQUIRE(last(1000) == Approx(1500.25).epsilon(1e-14));
  REQUIRE(last(1'000'000'000) == Approx(1'500'000'000.25).epsilon(1e-14));
}

TEST_CASE(
    "If the iterations in the middle are skipped, the bound is never too "
    "high",
    "[property]") {
  int shorter = 0;
  for (unsigned seed = 0; seed < test::cases_of(300u); ++seed) {
    Plan plan = test::random_plan(seed);
    for (Pool& pool : plan.pools) pool.enforced = false;
    plan.iterations = 40;
    const ReplayResult result = replay(plan);
    if (result.blocking) continue;
    INFO("seed " << seed);
    const double all = walk_forwards(PathGraph(plan), 1'000'000).latest_available;
    const double some = walk_forwards(PathGraph(plan), 1).latest_available;
    REQUIRE(all == Approx(result.makespan).epsilon(1e-12));
    REQUIRE(some <= all * (1 + 1e-12));
    shorter += some < all;
  }
  REQUIRE(shorter > 10);
}

TEST_CASE("With unlimited memory and without contention, the bound equals the replay's makespan",
          "[property]") {
  int ended = 0;
  for (unsigned seed = 0; seed < test::cases_of(300u); ++seed) {
    Plan plan = test::random_plan(seed);
    for (Pool& pool : plan.pools) pool.enforced = false;
    const ReplayResult result = replay(plan);
    if (result.blocking) continue;
    ++ended;
    INFO("seed " << seed);
    REQUIRE(lower_bound(plan).seconds == Approx(result.makespan).epsilon(1e-12));
  }
  REQUIRE(ended > 50);
}

}  // namespace sluice
