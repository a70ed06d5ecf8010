// Throws errors about plans that contradict themselves.
#pragma once

#include <string>

#include "plan/plan.hpp"

namespace sluice {

/// Throws InputError. If the plan was read from a text, the error names the file and the line of the action. If
/// `action` is `none`, the error names only the file. If the plan was not read from a text, the error has no position,
/// and its message begins with "plan: ".
[[noreturn]] void plan_fault(const Plan& plan, std::uint32_t action, const std::string& message);

/// These two functions do the same as plan_fault(), at the line of an action or of a tensor. But they throw CountError,
/// for a sum of bytes that does not fit into 64 bits.
[[noreturn]] void plan_count_fault(const Plan& plan, std::uint32_t action,
                                   const std::string& message);
[[noreturn]] void tensor_count_fault(const Plan& plan, std::uint32_t tensor,
                                     const std::string& message);

/// Throws the same error as plan_fault(), but at the line with the first word `key`, such as `iterations`.
[[noreturn]] void header_fault(const Plan& plan, const std::string& key,
                               const std::string& message);

}  // namespace sluice
