// Runs with kinds of tensors in two memories, in random scenarios under policies streamed, phased and sharded. No run
// is slower in larger memories or with more freedom to place and to move tensors, and what fits is never refused then.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/never.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "plan/tables.hpp"
#include "scenario/scenario.hpp"
#include "support/campaign.hpp"
#include "support/random_devices.hpp"

namespace sluice {
namespace {

using test::RandomDevices;

struct Counts {
  int fit = 0;      ///< runs that fit
  int refused = 0;  ///< runs that do not fit
  int faster = 0;   ///< runs that are faster than with less memory
  int sharing =
      0;  ///< runs whose transfers share links, or would share them if they did not go in turn
};

/// Returns the seconds of the run, or infinity if it does not fit.
double seconds_of(const Scenario& scenario, Counts& counts) {
  try {
    const Plan plan = make_plan(scenario);
    check(plan);
    ++counts.fit;
    const Fact* const chosen = find_fact(plan.facts, "chosen");
    const bool in_turn = chosen && chosen->shown().find("go in turn") != std::string::npos;
    counts.sharing += in_turn || !PlanTables(plan).contention_free() ? 1 : 0;
    return replay(plan).makespan;
  } catch (const Infeasible&) {
    ++counts.refused;
    return never;
  }
}

/// Plans the scenario with placements of more and more freedom, and with 8 sizes of the first or the second memory. The
/// sizes rise from less than a layer needs to more than everything needs.
void check_sizes(const RandomDevices& random, bool first_rises, std::int64_t other,
                 Counts& counts) {
  const std::vector<std::string> placements = {"first_touch", "static", "synchronous",
                                               "asynchronous"};
  std::vector<double> with_less(placements.size(), never);
  for (std::int64_t n = 1; n <= 8; ++n) {
    const std::int64_t bytes = 150 * n + 17 * n * n;
    double less_free = never;
    for (std::size_t p = 0; p < placements.size(); ++p) {
      INFO((first_rises ? "first" : "second") << " memory of " << bytes << " bytes, the other of "
                                              << other << " bytes, " << placements[p] << "\n"
                                              << random.text());
      const double seconds = seconds_of(
          random.scenario(first_rises ? bytes : other, first_rises ? other : bytes, placements[p]),
          counts);
      CHECK(seconds <= less_free * (1 + 1e-9));
      CHECK(seconds <= with_less[p] * (1 + 1e-9));
      counts.faster += seconds < with_less[p] * (1 - 1e-9) ? 1 : 0;
      less_free = with_less[p] = seconds;
    }
  }
}

void check_sizes(const RandomDevices& random, std::uint64_t seed, Counts& counts) {
  const auto part = static_cast<std::int64_t>(seed % 7);
  check_sizes(random, true, 300 + 200 * part, counts);
  check_sizes(random, false, 500 + 100 * part, counts);
}

TEST_CASE(
    "with kinds of tensors in two memories, 8 rising sizes of a memory and more freedom never make a "
    "run slower, and never lead to a refusal",
    "[placement][property]") {
  Counts streamed, others;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{8}); ++seed) {
    INFO("seed " << seed);
    check_sizes(RandomDevices(seed), seed, others);
  }
  // One in six scenarios has a single device on which weights may take turns.
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{40}); ++seed) {
    RandomDevices random(seed);
    if (!random.is_single()) continue;
    random.stream();
    INFO("seed " << seed << ", streamed");
    check_sizes(random, seed, streamed);
  }
  for (const Counts& counts : {streamed, others}) {
    CHECK(counts.fit > 100);
    CHECK(counts.refused > 10);
    CHECK(counts.faster > 50);
    CHECK(counts.sharing > 50);
  }
}

}  // namespace
}  // namespace sluice
