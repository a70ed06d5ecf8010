// A golden text of a plan, and how two of them differ: "the plan is different" is told from "it
// answered differently".
//
// A plan whose text is short is kept as it is (sluice-plan/2, which `sluice run` executes). Of a
// longer one the digest is kept (sluice-plan-digest/1): its lines before the tensors, what each
// section and each stream in it add up to, seconds by stage, and hashes of the order. A hash leaves
// out the numbers that are computed (seconds, flop, memory_bytes, joules), which differ in the last
// digit from one compiler to the next; the sums hold them, and are compared to 1e-9.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

std::string golden_text(const Plan& plan);
std::string digest_text(const Plan& plan);

struct PlanDifference {
  std::vector<std::string> lines;  ///< what differs, in words; the first few
  std::size_t more = 0;            ///< differences beside them
  bool none() const { return lines.empty(); }
};

/// Both are golden texts; `expected_name` is the file of the first, for messages. Numbers with a
/// fraction are equal within 1e-9. Throws InputError with a position where a text cannot be read.
PlanDifference compare_plans(const std::string& expected, const std::string& expected_name,
                             const std::string& got);

}  // namespace sluice
