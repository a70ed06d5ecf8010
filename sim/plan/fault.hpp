// A plan that contradicts itself: how that is said.
#pragma once

#include <string>

#include "plan/plan.hpp"

namespace sluice {

/// Throws InputError: where the plan was read from a text, at the action's line, or for `none`
/// naming the file; else one without position that begins with "plan: ".
[[noreturn]] void plan_fault(const Plan& plan, std::uint32_t action, const std::string& message);

/// The same at the line of a tensor.
[[noreturn]] void tensor_fault(const Plan& plan, std::uint32_t tensor, const std::string& message);

}  // namespace sluice
