// Tests every bundled scenario. Sluice must make a plan for it. The text of the plan must be read back as an equal
// plan. The engine and the replay must give equal times.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "metrics/bound.hpp"
#include "plan/tables.hpp"
#include "plan/text.hpp"
#include "run/isolated.hpp"
#include "scenario/scenario.hpp"
#include "support/source_folder.hpp"

namespace sluice {
namespace {

std::vector<std::string> zoo() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/scenarios"))
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

void compare(const Plan& plan, const MemoryTrace& trace) {
  std::map<std::pair<std::uint32_t, std::int64_t>, Executed> expected;
  replay(plan, [&](const Executed& e) { expected[{e.action, e.iteration}] = e; });
  REQUIRE(trace.spans.size() == expected.size());
  double worst = 0;
  for (const Span& span : trace.spans) {
    const Executed& e = expected.at({span.action, span.iteration});
    worst = std::max({worst, std::abs(span.start - e.start), std::abs(span.end - e.end)});
  }
  CHECK(worst <= 1e-9 * trace.report.makespan);
}

TEST_CASE("engine and replay give equal times for every bundled scenario") {
  int compared = 0;
  for (const std::string& path : zoo())
    for (const bool overlap : {true, false}) {
      INFO(path << ", overlap " << overlap);
      const Plan plan = make_plan(load_scenario(
          path,
          {std::string("policy.overlap=") + (overlap ? "true" : "false"), "workload.steps=2"}));
      check(plan);
      CHECK(to_text(plan_from_text(to_text(plan), "zoo")) == to_text(plan));
      const MemoryTrace trace = execute_isolated(plan);
      const double replayed = replay(plan).makespan;
      CHECK(trace.report.makespan >= replayed * (1 - 1e-9));
      CHECK(trace.report.makespan >= lower_bound(plan).seconds * (1 - 1e-9));
      compare(plan, trace);
      ++compared;
    }
  CHECK(compared >= 20);
}

TEST_CASE(
    "alexnet_x200: 590 micro-batches in flight fit with the cut by_memory, but 591 do not fit, and none fits if layer "
    "16 ends a stage") {
  const std::string path = test::source_folder() + "/scenarios/alexnet_x200.yaml";
  for (const char* overlap : {"policy.overlap=true", "policy.overlap=false"}) {
    const auto at = [&](int in_flight, const std::string& cut = "stages={cut: by_memory}") {
      const bool ahead = std::string(overlap) == "policy.overlap=true";
      return make_plan(load_scenario(
          path, {overlap, cut, "fates={strategy: keep_all}",
                 "policy.in_flight=" + std::to_string(in_flight), "policy.buffers=2",
                 "policy.pieces=whole", ahead ? "policy.prefetch=1" : "policy.prefetch=0"}));
    };
    CHECK_NOTHROW(check(at(590)));
    CHECK_THROWS_AS(at(591), Infeasible);
    CHECK_THROWS_WITH(
        at(1, "stages={cut: explicit, after: [16]}"),
        Catch::Contains("not even one micro-batch fits") && Catch::Contains("weights.0"));
  }
}

}  // namespace
}  // namespace sluice
