// Numbers in the form in which people read them.
#pragma once

#include <cstdint>
#include <string>

namespace sluice {

/// A number in the unit of a metric: "61 TFLOP/s", "99.06 %" for a ratio, "917 samples".
std::string figure(double number, const std::string& unit);
/// Four significant digits and a percent sign.
std::string percent(double share);
/// An integer with blanks between groups of three digits: "174 808 832".
std::string grouped(std::int64_t number);
/// At least six significant digits and at least three decimals, without trailing zeros: 1256.396,
/// 0.109227, 800.
std::string milliseconds(double seconds);

/// Four significant digits and at least two decimals, without trailing zeros: 127.35, 2.192,
/// 0.6367.
std::string ratio(double number);
/// Seconds in the form of a clock: "42 s", "3:07", "2:00:05".
std::string clock(double seconds);

}  // namespace sluice
