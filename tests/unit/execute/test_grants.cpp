// Compares grants by reservation with grants strictly in listing order, and the replay with a naive executor, the
// oracle. No plan may be slower with reservation than in listing order. No plan may be slower in a larger memory than
// in a smaller memory. A plan that has no deadlock in listing order must have none with reservation. A plan that has no
// deadlock in the smaller memory must have none in the larger memory.
#include <catch2/catch.hpp>

#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "plan/structure.hpp"
#include "plan/tables.hpp"
#include "support/campaign.hpp"
#include "support/oracle.hpp"
#include "support/random_plan.hpp"
#include "trace/memory_sink.hpp"

namespace sluice {
namespace {

constexpr unsigned plans = 20'000;

TEST_CASE(
    "the naive oracle and the replay give equal times for 300 random plans, and both block on the same plans",
    "[property]") {
  int ended = 0;
  for (unsigned seed = 1; seed <= test::cases_of(300u); ++seed) {
    INFO("seed " << seed);
    const Plan plan = test::random_plan(seed, {.ties = seed % 3 == 0, .riffled = seed % 2 == 0});
    check_structure(plan);
    MemorySink replayed;
    const ReplayResult result = replay(plan, replayed);
    const test::OracleResult expected = test::oracle(plan);
    REQUIRE(expected.blocked == result.blocking.has_value());
    if (expected.blocked) continue;
    ++ended;
    REQUIRE(replayed.spans.size() == expected.times.size());
    for (const Span& span : replayed.spans) {
      const auto [start, end] = expected.times.at({span.action, span.iteration});
      REQUIRE(span.start == start);
      REQUIRE(span.end == end);
    }
  }
  CHECK(ended > 100);
}

struct Counts {
  int ended = 0, faster = 0, freed = 0;
  int slower = 0, newly_blocked = 0, more_memory_slower = 0, more_memory_blocks = 0;
};

void count_more_memory(Plan plan, const ReplayResult& before, unsigned seed, Counts& counts) {
  std::mt19937 random(seed + 7);
  for (Pool& pool : plan.pools)
    if (pool.capacity) *pool.capacity += std::uniform_int_distribution<int>(0, 30)(random);
  const ReplayResult after = replay(plan);
  counts.more_memory_blocks += after.blocking.has_value();
  counts.more_memory_slower +=
      !after.blocking && after.makespan > before.makespan * (1 + 1e-12) ? 1 : 0;
}

/// Counts the plan if it is slower or newly blocked under reservation, compared with grants in listing order. Then does
/// the same for a larger memory, compared with the memory of the plan.
void count_against_order(const Plan& plan, unsigned seed, Counts& counts) {
  const test::OracleResult in_order = test::oracle(plan, true);
  const ReplayResult result = replay(plan);
  if (result.blocking) {
    counts.newly_blocked += in_order.blocked ? 0 : 1;
    return;
  }
  ++counts.ended;
  count_more_memory(plan, result, seed, counts);
  counts.freed += in_order.blocked;
  if (in_order.blocked) return;
  counts.slower += result.makespan > in_order.makespan * (1 + 1e-12);
  counts.faster += result.makespan < in_order.makespan * (1 - 1e-12);
}

TEST_CASE("neither reservation nor more memory makes a plan slower or blocks a plan") {
  Counts counts;
  for (unsigned seed = 1; seed <= plans; ++seed) {
    const Plan plan = test::random_plan(
        seed, {.ties = seed % 2 == 0, .riffled = seed % 4 < 2, .owned_pools = true});
    count_against_order(plan, seed, counts);
  }
  CHECK(counts.slower == 0);
  CHECK(counts.newly_blocked == 0);
  CHECK(counts.more_memory_blocks == 0);
  CHECK(counts.more_memory_slower == 0);
  CHECK(counts.freed > 0);
  CHECK(counts.faster > 0);
  UNSCOPED_INFO(counts.ended << " end, " << counts.faster << " are faster than in listing order, "
                             << counts.freed << " no longer block");
  CHECK(counts.ended > 10'000);
}

/// In a larger memory, a transfer may start earlier. If transfers share links, this transfer may delay another
/// transfer. So a few plans may be slower in a larger memory. This test counts the slower plans.
TEST_CASE("if links are shared, more memory never blocks a plan") {
  Counts counts;
  for (unsigned seed = 1; seed <= plans; ++seed) {
    const Plan plan = test::random_plan(
        seed, {.shared_links = true, .riffled = seed % 2 == 0, .owned_pools = true});
    const ReplayResult result = replay(plan);
    if (result.blocking) continue;
    ++counts.ended;
    count_more_memory(plan, result, seed, counts);
  }
  CHECK(counts.more_memory_blocks == 0);
  CHECK(counts.ended > 10'000);
  UNSCOPED_INFO(counts.more_memory_slower << " of " << counts.ended << " are slower");
  CHECK(counts.more_memory_slower < counts.ended / 40);
}

/// A shared pool gives its bytes in the order of the requests. A larger memory may change this order. So a few plans
/// may be slower in it, or end in a deadlock. This test counts these plans.
TEST_CASE("with pools that several devices share, few plans are slower or blocked by more memory") {
  Counts counts;
  for (unsigned seed = 1; seed <= plans; ++seed) {
    const Plan plan = test::random_plan(seed, {.ties = seed % 2 == 0, .riffled = seed % 4 < 2});
    count_against_order(plan, seed, counts);
  }
  UNSCOPED_INFO(counts.ended << " end, " << counts.slower << " are slower than in listing order, "
                             << counts.newly_blocked
                             << " block only under reservation; with more memory "
                             << counts.more_memory_slower << " slower, "
                             << counts.more_memory_blocks << " blocked");
  CHECK(counts.ended > 10'000);
  CHECK(counts.freed > counts.newly_blocked);
  CHECK(counts.more_memory_slower < counts.ended / 40);
}

bool same_times(const MemorySink& a, const MemorySink& b) {
  return a.spans.size() == b.spans.size() &&
         std::equal(a.spans.begin(), a.spans.end(), b.spans.begin(),
                    [](const Span& x, const Span& y) {
                      return x.action == y.action && x.iteration == y.iteration &&
                             x.start == y.start && x.end == y.end;
                    });
}

TEST_CASE(
    "if pools have the capacity that an unlimited run reserves, no action starts later than in the unlimited "
    "run") {
  int tighter = 0;
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    INFO("seed " << seed);
    Plan plan = test::random_plan(seed, {.ties = seed % 2 == 0,
                                         .shared_links = seed % 3 == 0,
                                         .riffled = seed % 7 < 4,
                                         .owned_pools = seed % 5 != 0});
    MemorySink unlimited, limited;
    const ReplayResult free = replay(plan, unlimited, {.unlimited = true});
    REQUIRE_FALSE(free.blocking);
    for (std::uint32_t p = 0; p < plan.pools.size(); ++p) {
      CHECK(free.reserved[p] >= free.peaks[p]);
      if (!plan.pools[p].limited()) continue;
      tighter += free.reserved[p] > free.peaks[p];
      plan.pools[p].capacity = free.reserved[p];
    }
    const ReplayResult result = replay(plan, limited);
    REQUIRE_FALSE(result.blocking);
    CHECK(same_times(unlimited, limited));
    CHECK(result.reserved == free.reserved);
  }
  CHECK(tighter > 0);
}

TEST_CASE(
    "a plan that blocks also blocks with only two iterations more than the largest distance of its waits") {
  int blocked = 0;
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    INFO("seed " << seed);
    Plan plan = test::random_plan(seed, {.riffled = seed % 2 == 0, .owned_pools = true});
    plan.iterations = 20;
    const bool whole = replay(plan).blocking.has_value();
    CHECK(blocks(plan).has_value() == whole);
    blocked += whole;
  }
  CHECK(blocked > 20);
}

}  // namespace
}  // namespace sluice
