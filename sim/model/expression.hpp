// Computes the values of integer expressions with a model's parameters, such as "$size * 2" and "($layers + 1) / 2".
// The grammar is:
//
//   sum     = product { ("+" | "-") product }
//   product = factor { ("*" | "/") factor }
//   factor  = digits | "$" name | "(" sum ")"
//
// Numbers have 64 bits. An overflow is an error, and so is a division that leaves a remainder.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sluice {

using Parameters = std::map<std::string, std::int64_t>;

/// Returns the value of the expression `text`. Throws an InputError that names the fault but has no position.
std::int64_t evaluate(std::string_view text, const Parameters& parameters);

}  // namespace sluice
