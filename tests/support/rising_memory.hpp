// Checks that a run is never slower with more fast memory.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "scenario/scenario.hpp"

namespace sluice::test {

/// Returns the seconds of the run if the first memory of each of these devices has `bytes` bytes, or nothing if the
/// scenario is refused.
inline std::optional<double> seconds_within(const std::string& text, std::int64_t bytes,
                                            const std::vector<std::string>& devices) try {
  Value document = parse_text(text, "cards.yaml");
  for (const std::string& device : devices)
    apply_overrides(document, {"platform.devices." + device +
                               ".memory.0.capacity=" + std::to_string(bytes) + "B"});
  const Plan plan = make_plan(read_scenario(document, "cards"));
  check(plan);
  return replay(plan).makespan;
} catch (const Infeasible&) {
  return std::nullopt;
}

/// Checks that no run is slower or refused with more memory. Returns how many runs are faster.
inline int check_rising(const std::string& text, const std::vector<std::int64_t>& sizes,
                        const std::vector<std::string>& devices = {"gpu"}) {
  std::optional<double> before;
  int faster = 0;
  for (const std::int64_t bytes : sizes) {
    INFO(bytes << " B\n" << text);
    const std::optional<double> now = seconds_within(text, bytes, devices);
    if (before) REQUIRE(now);
    if (before) CHECK(*now <= *before * (1 + 1e-9));
    faster += before && *now < *before ? 1 : 0;
    if (now) before = now;
  }
  return faster;
}

}  // namespace sluice::test
