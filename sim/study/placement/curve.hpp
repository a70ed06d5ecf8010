// Computes how much slower a scenario gets if there is less fast memory. The result is a curve for each method of
// placing tensors: the seconds for each size of fast memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/ways.hpp"
#include "planning/placement/memories.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

/// Parses sizes of fast memory, separated by commas. "16GB" is a size in bytes. "40%" is a share of the bytes that the
/// scenario needs. "1:8" is the ratio of fast memory to slow memory, which together have the needed bytes. "10%..100%"
/// means several shares, in steps of 10 %. "10%..100%:5" has steps of 5 %. Throws UsageError whose message names the
/// option --fast.
std::vector<std::int64_t> fast_sizes(const std::string& text, std::int64_t needed);

/// Parses the rates at which kernels read and write slow memory in place: "20GB/s:4.4GB/s". Throws UsageError whose
/// message names the option --in-place.
PlacementProblem::Rates in_place_rates(const std::string& text);

/// Returns the problem of placing the tensors of one micro-batch in the two memories. Throws InputError.
PlacementProblem placement_problem(const Scenario& scenario, const TwoMemories& memories);

struct PlacementCurve {
  std::string scenario;
  std::string cost_model;
  PlacementQuestion question;
  std::optional<PlacementProblem::Rates> in_place = {};
  std::int64_t needed = 0;  ///< the largest number of bytes that tensors occupy at one time
  std::optional<std::int64_t> fast_capacity = {};  ///< bytes of the fast memory that the device has
  /// The seconds that a micro-batch takes if all tensors are in fast memory.
  double all_fast_s = 0;
  /// The results, sorted by the capacity of fast memory. Results with the same capacity are sorted by method.
  std::vector<PlacementResult> results;

  double fraction(const PlacementResult& result) const;
  double slowdown(const PlacementResult& result) const { return result.seconds() / all_fast_s; }
};

struct CurveRequest {
  /// The name of the device. If it is empty, the device is the first device with two memories.
  std::string device;
  /// Sizes of fast memory, as fast_sizes() parses them. If the text is empty, the sizes are 10%..100% and the size that
  /// the device has.
  std::string fast = {};
  std::vector<std::string> ways;  ///< names of the methods; if empty, all methods
  int nodes = 1000;
  /// The rates at which kernels read and write slow memory in place. If rates are given, the seconds of a kernel are a
  /// sum: its seconds with all operands in fast memory, and the seconds of its reads and writes of slow memory at these
  /// rates. If no rates are given, the cost model gives the seconds of a kernel.
  std::optional<PlacementProblem::Rates> in_place = {};
  PlacementProgress progress = {};
};

/// Computes the results for all requested sizes and methods. Throws InputError, Infeasible, UsageError.
PlacementCurve placement_curve(const Scenario& scenario, const CurveRequest& request);

}  // namespace sluice
