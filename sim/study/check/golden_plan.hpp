// The golden text of a plan is the text that a baseline keeps of the plan. The functions here say how two golden texts
// differ. Two cases can be told apart: the plan has changed, or an equal plan gave other numbers.
//
// A short text of a plan is kept as a whole (sluice-plan/2, which `sluice run` executes). Of a longer text, only a
// digest is kept (sluice-plan-digest/1). The digest has five parts: the lines before the tensors; the number and bytes
// of the tensors; sums over each section, and over each stream in a section; the seconds of each stage; and hashes of
// the order of the actions. The last digits of computed numbers such as seconds differ between compilers. So the hashes
// leave out computed numbers. The sums include them, and are compared with a tolerance of 1e-9.
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

/// Compares two golden texts. `expected_name` is the file of the first text, for messages. Numbers with a fraction are
/// equal if they agree to 1e-9. Throws InputError with a position when a text cannot be read.
PlanDifference compare_plans(const std::string& expected, const std::string& expected_name,
                             const std::string& got);

}  // namespace sluice
