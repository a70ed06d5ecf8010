// The golden text of a plan is the text that a baseline keeps of the plan. The functions here say how two golden texts
// differ. So a check can tell two cases apart: the plan has changed, or the same plan has other results.
//
// If the text of a plan is short, the baseline keeps the whole text, in the format sluice-plan/2 that `sluice run`
// executes. If the text is long, the baseline keeps only a digest, in the format sluice-plan-digest/1. The digest has
// five parts: the lines before the prologue, except the lines of tensors; the number, the bytes and a hash of the
// tensors; sums over each section, and over each stream in a section; the seconds of each stage; and hashes of the
// actions in their order. Computed numbers, such as seconds, may have other last digits with another compiler. So the
// hashes leave out computed numbers. The sums include computed numbers, and are compared with a tolerance of 1e-9.
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
  std::size_t more = 0;            ///< number of differences that `lines` does not contain
  bool none() const { return lines.empty(); }
};

/// Compares the golden texts `expected` and `got`. Messages use `expected_name`, the name of the file of `expected`.
/// Numbers with a fraction count as equal if they differ by at most 1e-9 of their size. Throws InputError with a
/// position when a text cannot be read.
PlanDifference compare_plans(const std::string& expected, const std::string& expected_name,
                             const std::string& got);

}  // namespace sluice
