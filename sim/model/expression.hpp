// Evaluates integer expressions with a model's parameters, such as "$size * 2" and "($layers + 1) / 2":
//
//   sum     = product { ("+" | "-") product }
//   product = factor { ("*" | "/") factor }
//   factor  = digits | "$" name | "(" sum ")"
//
// The arithmetic has 64 bits and is checked for overflow. A division must leave no remainder.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sluice {

using Parameters = std::map<std::string, std::int64_t>;

/// Returns the value of the expression `text`. Throws an InputError without a position, which names the fault.
std::int64_t evaluate(std::string_view text, const Parameters& parameters);

}  // namespace sluice
