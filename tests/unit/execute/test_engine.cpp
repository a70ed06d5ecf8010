// Compares the executor `simgrid`, called the engine, with the executor `replay` on random plans. The two executors
// implement the meaning of a plan independently of each other.
#include <catch2/catch.hpp>

#include <map>
#include <optional>
#include <tuple>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/shortage.hpp"
#include "plan/structure.hpp"
#include "plan/tables.hpp"
#include "plan/text.hpp"
#include "run/isolated.hpp"
#include "support/campaign.hpp"
#include "support/random_plan.hpp"
#include "trace/memory_sink.hpp"

namespace sluice {
namespace {

bool operator==(const Span& a, const Span& b) {
  const auto all = [](const Span& s) {
    return std::tie(s.action, s.iteration, s.start, s.end, s.available, s.waited, s.reason,
                    s.blocker, s.cause);
  };
  return all(a) == all(b);
}

bool operator==(const MemoryEvent& a, const MemoryEvent& b) {
  const auto all = [](const MemoryEvent& e) {
    return std::tie(e.time, e.pool, e.tensor, e.delta, e.level);
  };
  return all(a) == all(b);
}

/// Returns the numbers with which the engine refuses the plan. The engine runs in a process of its own.
std::optional<Shortage> shortage_in_engine(const Plan& plan, const EngineOptions& options) {
  try {
    execute_isolated(plan, options);
  } catch (const Infeasible& infeasible) {
    return infeasible.shortage;
  }
  return {};
}

/// Checks that the engine and the replay give traces that are equal to the last bit. If the replay finds a deadlock,
/// the engine must find a deadlock, too. Returns whether the plan ran to its end.
bool same_trace(const Plan& plan, const EngineOptions& options = {}) {
  check_structure(plan);
  MemorySink expected;
  const ReplayResult replayed = replay(plan, expected);
  if (replayed.blocking) {
    std::optional<Shortage> shortage = shortage_in_engine(plan, options);
    const Shortage said = shortage_of(plan, *replayed.blocking);
    REQUIRE(shortage);
    // The engine gives the end of the last action. In the replay, data that nobody awaits may arrive after it.
    CHECK(shortage->time_s.value() <= said.time_s.value() * (1 + 1e-9));
    shortage->time_s = said.time_s;
    CHECK(*shortage == said);
    return false;
  }
  const MemoryTrace trace = execute_isolated(plan, options);
  CHECK(trace.report.makespan == replayed.makespan);
  REQUIRE(trace.spans.size() == expected.spans.size());
  for (std::size_t i = 0; i < trace.spans.size(); ++i) {
    INFO("span " << i << ": " << name_of(plan.actions[expected.spans[i].action]));
    REQUIRE((trace.spans[i] == expected.spans[i]));
  }
  REQUIRE(trace.memory.size() == expected.events.size());
  std::vector<std::int64_t> peaks(plan.pools.size(), 0);
  for (std::size_t i = 0; i < trace.memory.size(); ++i) {
    REQUIRE((trace.memory[i] == expected.events[i]));
    peaks[trace.memory[i].pool] = std::max(peaks[trace.memory[i].pool], trace.memory[i].level);
  }
  CHECK(peaks == replayed.peaks);
  return true;
}

/// Compares the times at which the two executors start and end each action. Returns the largest difference, as a share
/// of the makespan. If the plan ends in a deadlock in both executors, returns nullopt.
std::optional<double> disagreement(const Plan& plan, const EngineOptions& options = {}) {
  MemorySink replayed;
  const ReplayResult result = replay(plan, replayed);
  if (result.blocking) {
    CHECK_THROWS_AS(execute_isolated(plan, options), Infeasible);
    return {};
  }
  std::map<std::pair<std::uint32_t, std::int64_t>, const Span*> expected;
  for (const Span& span : replayed.spans) expected[{span.action, span.iteration}] = &span;
  const MemoryTrace trace = execute_isolated(plan, options);
  REQUIRE(trace.spans.size() == expected.size());
  double worst = std::abs(trace.report.makespan - result.makespan);
  for (const Span& span : trace.spans) {
    const Span& other = *expected.at({span.action, span.iteration});
    worst = std::max({worst, std::abs(span.start - other.start), std::abs(span.end - other.end)});
  }
  return worst > 0 ? worst / result.makespan : 0;
}

TEST_CASE(
    "engine and replay give equal traces of 300 random plans, and the engine blocks on each plan on which the "
    "replay blocks",
    "[property]") {
  int ended = 0, blocked = 0;
  for (unsigned seed = 1; seed <= test::cases_of(300u); ++seed) {
    INFO("seed " << seed);
    (same_trace(test::random_plan(seed)) ? ended : blocked)++;
  }
  CHECK(ended > 100);
  CHECK(blocked > 30);
}

TEST_CASE("engine and replay give equal traces if many events happen at the same moment",
          "[property]") {
  int ended = 0, blocked = 0;
  for (unsigned seed = 1001; seed <= 1000 + test::cases_of(400u); ++seed) {
    INFO("seed " << seed);
    (same_trace(test::random_plan(seed, {.ties = true, .riffled = seed % 2 == 0})) ? ended
                                                                                   : blocked)++;
  }
  CHECK(ended > 120);
  CHECK(blocked > 40);
}

TEST_CASE("engine and replay agree to 1e-9 of the makespan on 500 plans with shared links",
          "[property]") {
  int compared = 0;
  for (unsigned seed = 1; seed <= test::cases_of(500u); ++seed) {
    INFO("seed " << seed);
    const Plan plan = test::random_plan(seed, {.ties = seed % 2 == 0, .shared_links = true});
    const auto difference = disagreement(plan);
    if (!difference) continue;
    CHECK(*difference <= 1e-9);
    compared += PlanTables(plan).contention_free() ? 0 : 1;
  }
  CHECK(compared > 150);
}

TEST_CASE(
    "a link that is timed directly gives the same times as SimGrid's communications over this link",
    "[property]") {
  for (unsigned seed = 1; seed <= test::cases_of(60u); ++seed) {
    INFO("seed " << seed);
    const auto difference = disagreement(test::random_plan(seed), {.direct_links = false});
    if (difference) CHECK(*difference <= 1e-8);
  }
}

TEST_CASE("if the text of a plan is read back, the result is an equal plan", "[property]") {
  for (unsigned seed = 1; seed <= test::cases_of(100u); ++seed) {
    const std::string text = to_text(test::random_plan(seed));
    CHECK(to_text(plan_from_text(text, "random")) == text);
  }
}

}  // namespace
}  // namespace sluice
