// Formats numbers in the form in which people read them.
#pragma once

#include <cstdint>
#include <string>

namespace sluice {

/// Returns a number in the unit of a metric, such as "61 TFLOP/s", "99.06 %" or "917 samples".
std::string figure(double number, const std::string& unit);
/// Returns seconds with a unit, such as "1.5 ms".
std::string format_seconds(double seconds);
/// Returns a share as a percentage, with four significant digits.
std::string percent(double share);
/// Returns an integer with blanks between groups of three digits, such as "174 808 832".
std::string grouped(std::int64_t number);
/// Returns seconds as a number of milliseconds, such as 1256.396, 0.109227 or 800. The number has
/// at least six significant digits and at least three decimals, but trailing zeros are left out.
std::string milliseconds(double seconds);

/// Returns a number such as 127.35, 2.192 or 0.6367. It has at least four significant digits and at least two decimals,
/// but trailing zeros are left out.
std::string ratio(double number);
/// Returns seconds in the form of a clock, such as "42 s", "3:07" or "2:00:05".
std::string clock(double seconds);

}  // namespace sluice
