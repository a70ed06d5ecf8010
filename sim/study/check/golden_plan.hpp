// The golden text of a plan is what a baseline keeps of it. This file says how two golden texts differ, and so
// distinguishes "the plan is different" from "the same plan gave other numbers".
//
// A plan with a short text is kept as a whole (sluice-plan/2, which `sluice run` executes). Of a longer plan only a
// digest is kept (sluice-plan-digest/1): its lines before the tensors, the sums of each section and of each of its
// streams, seconds by stage, and hashes of the order. A hash does not include the computed numbers (seconds, flop,
// memory_bytes, joules), because their last digits differ between compilers. The sums include these numbers, and are
// compared to 1e-9.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

std::string golden_text(const Plan& plan);
std::string digest_text(const Plan& plan);

struct PlanDifference {
  std::vector<std::string> lines;  ///< the first few differences, in words
  std::size_t more = 0;            ///< number of further differences
  bool none() const { return lines.empty(); }
};

/// Compares two golden texts. `expected_name` is the file of the first, for messages. Numbers with a fraction are equal
/// if they agree to 1e-9. Throws InputError with a position when a text cannot be read.
PlanDifference compare_plans(const std::string& expected, const std::string& expected_name,
                             const std::string& got);

}  // namespace sluice
