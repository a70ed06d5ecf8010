// The engine against the replay: two implementations of a plan's semantics, on random plans.
#include <catch2/catch.hpp>

#include <map>
#include <optional>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "plan/check.hpp"
#include "plan/text.hpp"
#include "run/isolated.hpp"
#include "support/random_plan.hpp"

namespace sluice {
namespace {

using Key = std::pair<std::uint32_t, std::int64_t>;

/// Does the engine give the replay's spans, or block where the replay blocks?
/// Peaks are compared unless a release and an allocation of one moment may change places.
bool compare(const Plan& plan, const EngineOptions& options = {}, double tolerance = 1e-9,
             bool peaks_too = true) {
  check_structure(plan);
  std::map<Key, Executed> expected;
  const ReplayResult replayed = replay(plan, [&](const Executed& e) {
    expected[{e.action, e.iteration}] = e;
  });
  if (replayed.blocking) {
    CHECK_THROWS_AS(execute_isolated(plan, options), Infeasible);
    return false;
  }
  const MemoryTrace trace = execute_isolated(plan, options);
  CHECK(trace.report.makespan == Approx(replayed.makespan).epsilon(tolerance).margin(tolerance));
  REQUIRE(trace.spans.size() == expected.size());
  for (const Span& span : trace.spans) {
    const Executed& e = expected.at({span.action, span.iteration});
    CHECK(span.start == Approx(e.start).epsilon(tolerance).margin(tolerance));
    CHECK(span.end == Approx(e.end).epsilon(tolerance).margin(tolerance));
    CHECK(span.available == Approx(e.available).epsilon(tolerance).margin(tolerance));
  }
  if (!peaks_too) return true;
  std::vector<std::int64_t> peaks(plan.pools.size(), 0);
  for (const MemoryEvent& event : trace.memory)
    peaks[event.pool] = std::max(peaks[event.pool], event.level);
  CHECK(peaks == replayed.peaks);
  return true;
}

TEST_CASE("engine and replay agree on 300 random plans, also on which of them block") {
  int ended = 0, blocked = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    (compare(test::random_plan(seed)) ? ended : blocked)++;
  }
  CHECK(ended > 100);
  CHECK(blocked > 30);
}

TEST_CASE("engine and replay agree where much happens at the same moment") {
  int ended = 0, blocked = 0;
  for (unsigned seed = 1001; seed <= 1200; ++seed) {
    INFO("seed " << seed);
    (compare(test::random_plan(seed, {.ties = true}), {}, 1e-9, false) ? ended : blocked)++;
  }
  CHECK(ended > 60);
  CHECK(blocked > 20);
}

TEST_CASE("a link timed directly and the same link as SimGrid communications give one trace") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    compare(test::random_plan(seed), {.direct_links = false}, 1e-8);
  }
}

TEST_CASE("a plan's text reads back as the same plan") {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    const std::string text = to_text(test::random_plan(seed));
    CHECK(to_text(plan_from_text(text, "random")) == text);
  }
}

}  // namespace
}  // namespace sluice
