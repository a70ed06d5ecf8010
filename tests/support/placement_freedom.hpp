// Compares plans of two memories that differ in their freedom to move tensors, and in the size of the first memory.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/never.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "scenario/scenario.hpp"

namespace sluice::test {

struct FreedomRuns {
  int runs = 0;   ///< how many plans fit
  int moved = 0;  ///< how many of them move tensors to the memory in question
};

/// Plans the scenario with each of these sizes of the first memory, in ascending order, and with the placements static,
/// synchronous and asynchronous. Checks that no run is slower than one with less freedom or with less memory. Counts
/// the runs, and those that move bytes as `moved_to` says: "to gpu" or "to gpu_ddr".
inline void check_freedom(const Scenario& scenario, const std::vector<std::uint64_t>& first_bytes,
                          const char* moved_to, FreedomRuns& counts) {
  const std::vector<std::string> placements = {"static", "synchronous", "asynchronous"};
  std::vector<double> before(placements.size(), never);
  for (const std::uint64_t first : first_bytes) {
    double freer = never;
    for (std::size_t n = 0; n < placements.size(); ++n) {
      INFO(first << " bytes, " << placements[n]);
      Value document = scenario.document;
      apply_overrides(document,
                      {"policy.placement=" + placements[n],
                       "platform.devices.gpu.memory.0.capacity=" + std::to_string(first) + "B"});
      double seconds = never;
      try {
        const Plan plan = make_plan(read_scenario(document, "card"));
        seconds = replay(plan).makespan;
        ++counts.runs;
        counts.moved += find_fact(plan.facts, "moved_bytes", moved_to) ? 1 : 0;
      } catch (const Infeasible&) {
      }
      CHECK(seconds <= freer * (1 + 1e-9));
      CHECK(seconds <= before[n] * (1 + 1e-9));
      freer = before[n] = seconds;
    }
  }
}

}  // namespace sluice::test
