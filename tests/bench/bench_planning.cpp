// Compares the time of planning with the time of one replay of the plan, for one scenario in one process.
//
//     bench_planning RUNS SCENARIO [KEY=VALUE...]
//
// prints a line of JSON. make_plan and the replay run RUNS times, and the line has the median of each, in seconds of
// the processor. The replay executes every action of every iteration. The line also has the numbers of actions and of
// executions. A short replay is repeated, because a single replay would be too short for the clock.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/freed_memory.hpp"
#include "execute/arithmetic/replay.hpp"
#include "scenario/scenario.hpp"

namespace sluice::bench {
namespace {

/// Returns the seconds for which the processor works on `work` in this process. Other work of the machine does not
/// count.
template <class Work>
double seconds_of(Work&& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void bench(int runs, const std::string& path, const std::vector<std::string>& overrides) {
  const Scenario scenario = load_scenario(path, overrides);
  const Plan plan = make_plan(scenario);  // warms up
  std::int64_t executions = 0;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) executions += plan.executions_of(a);
  std::vector<double> planning, replaying;
  const auto repeats =
      std::clamp<std::int64_t>(1'000'000 / std::max<std::int64_t>(1, executions), 1, 1000);
  for (int run = 0; run < runs; ++run) {
    planning.push_back(seconds_of([&] { make_plan(scenario); }));
    replaying.push_back(seconds_of([&] {
                          for (std::int64_t i = 0; i < repeats; ++i) replay(plan, {.jumps = false});
                        }) /
                        static_cast<double>(repeats));
  }
  std::printf("{\"actions\": %zu, \"executions\": %lld, \"plan_s\": %.9f, \"replay_s\": %.9f}\n",
              plan.actions.size(), static_cast<long long>(executions), median(planning),
              median(replaying));
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** words) {
  if (count < 3 || std::atoi(words[1]) < 1) {
    std::fprintf(stderr, "usage: bench_planning RUNS SCENARIO [KEY=VALUE...]\n");
    return 2;
  }
  try {
    sluice::keep_freed_memory();  // as the program does
    sluice::bench::bench(std::atoi(words[1]), words[2], {words + 3, words + count});
    return 0;
  } catch (const sluice::Error& error) {
    std::fprintf(stderr, "bench_planning: %s\n", error.what());
    return error.exit_code();
  }
}
