// Computes how much slower a scenario is with less fast memory. Each method of placing tensors gives a curve over the
// size of fast memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/ways.hpp"
#include "planning/placement/memories.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

/// Parses sizes of fast memory, separated by commas. "16GB" is a size. "40%" is a share of the bytes that the scenario
/// needs. "1:8" is the ratio of fast to slow memory. "10%..100%" is a range in steps of 10 %, and "10%..100%:5" has
/// steps of 5 %. Throws UsageError, which names the option --fast.
std::vector<std::int64_t> fast_sizes(const std::string& text, std::int64_t needed);

/// Parses the rates at which kernels read and write slow memory in place: "20GB/s:4.4GB/s". Throws
/// UsageError, which names the option --in-place.
PlacementProblem::Rates in_place_rates(const std::string& text);

/// Returns the placement problem of one micro-batch of a scenario. Throws InputError.
PlacementProblem placement_problem(const Scenario& scenario, const TwoMemories& memories);

struct PlacementCurve {
  std::string scenario;
  std::string cost_model;
  PlacementQuestion question;
  std::optional<PlacementProblem::Rates> in_place = {};
  std::int64_t needed = 0;  ///< the largest number of bytes that tensors occupy at one time
  std::optional<std::int64_t> fast_capacity = {};  ///< bytes of the fast memory that the device has
  /// Seconds of a micro-batch if all tensors are in fast memory.
  double all_fast_s = 0;
  /// The results, sorted by capacity, and for one capacity by method.
  std::vector<PlacementResult> results;

  double fraction(const PlacementResult& result) const;
  double slowdown(const PlacementResult& result) const { return result.seconds() / all_fast_s; }
};

struct CurveRequest {
  /// Name of the device. Empty means the first device that has two memories.
  std::string device;
  /// Sizes of fast memory. Empty means 10%..100%, and the size that the device has.
  std::string fast = {};
  std::vector<std::string> ways;  ///< names of the methods; if empty, all methods
  int nodes = 1000;
  /// The rates at which kernels read and write slow memory in place. A kernel takes some seconds with all operands in
  /// fast memory. The reads and writes at these rates add further seconds. Without rates, the cost model gives the
  /// seconds of a kernel.
  std::optional<PlacementProblem::Rates> in_place = {};
  PlacementProgress progress = {};
};

/// Computes the results for all requested sizes and methods. Throws InputError, Infeasible, UsageError.
PlacementCurve placement_curve(const Scenario& scenario, const CurveRequest& request);

}  // namespace sluice
