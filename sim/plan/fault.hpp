// Throws the error for a plan that contradicts itself.
#pragma once

#include <string>

#include "plan/plan.hpp"

namespace sluice {

/// Throws InputError. For a plan that was read from a text, the error names the file and the action's line. If
/// `action` is `none`, it names only the file. For a plan without a text, the error has no position and begins with
/// "plan: ".
[[noreturn]] void plan_fault(const Plan& plan, std::uint32_t action, const std::string& message);

/// Throws an error like plan_fault(), but at the line of a tensor.
[[noreturn]] void tensor_fault(const Plan& plan, std::uint32_t tensor, const std::string& message);

/// These functions work like plan_fault() and tensor_fault(), but throw CountError. The error reports a sum of bytes
/// that 64 bits cannot hold.
[[noreturn]] void plan_count_fault(const Plan& plan, std::uint32_t action,
                                   const std::string& message);
[[noreturn]] void tensor_count_fault(const Plan& plan, std::uint32_t tensor,
                                     const std::string& message);

/// Throws an error like plan_fault(), but at the line of the plan that has this key, for example `iterations`.
[[noreturn]] void header_fault(const Plan& plan, const std::string& key,
                               const std::string& message);

}  // namespace sluice
