// The slowdown of a scenario for each method of placing its tensors. It is a function of the part of the needed bytes
// that fits into fast memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/ways.hpp"
#include "planning/placement/memories.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

/// Parses sizes of fast memory, separated by commas. A size is "16GB"; or "40%" of what the scenario needs; or "1:8",
/// the ratio of fast to slow memory; or "10%..100%" in steps of 10 %, or with another step, "..100%:5". Throws
/// UsageError, which names the option --fast.
std::vector<std::int64_t> fast_sizes(const std::string& text, std::int64_t needed);

/// Parses the rates at which kernels read and write slow memory in place: "20GB/s:4.4GB/s". Throws
/// UsageError, which names the option --in-place.
PlacementProblem::Rates in_place_rates(const std::string& text);

/// Returns one micro-batch of a scenario as a placement problem. Throws InputError.
PlacementProblem placement_problem(const Scenario& scenario, const TwoMemories& memories);

struct PlacementCurve {
  std::string scenario;
  std::string cost_model;
  PlacementQuestion question;
  std::optional<PlacementProblem::Rates> in_place = {};
  std::int64_t needed = 0;                         ///< the most bytes that exist at one time
  std::optional<std::int64_t> fast_capacity = {};  ///< the fast memory that the device has
  double all_fast_s = 0;                           ///< the seconds with everything in fast memory
  std::vector<PlacementResult> results;            ///< sorted by capacity, then by way

  double fraction(const PlacementResult& result) const;
  double slowdown(const PlacementResult& result) const { return result.seconds() / all_fast_s; }
};

struct CurveRequest {
  std::string device;             ///< empty: the first device that has two memories
  std::string fast = {};          ///< empty: 10%..100%, and what the device has
  std::vector<std::string> ways;  ///< empty: all methods
  int nodes = 1000;
  /// The rates at which kernels read and write slow memory, in addition to their other time. None: the cost model says
  /// how long this takes.
  std::optional<PlacementProblem::Rates> in_place = {};
  PlacementProgress progress = {};
};

/// Throws InputError, Infeasible, UsageError.
PlacementCurve placement_curve(const Scenario& scenario, const CurveRequest& request);

}  // namespace sluice
