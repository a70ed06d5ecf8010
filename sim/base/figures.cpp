#include "base/figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/quantity.hpp"

namespace sluice {
namespace {

std::string digits(double number, int decimals) {
  std::array<char, 400> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, number);
  std::string text = buffer.data();
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

}  // namespace

std::string figure(double number, const std::string& unit) {
  if (!std::isfinite(number)) return "unknown";
  if (unit == "1") return percent(number);
  if (unit == "s") return format_seconds(number);
  if (unit == "byte") return format_quantity(number, Dimension::bytes);
  if (unit == "J") return format_quantity(number, Dimension::joules);
  if (unit == "J/sample") return format_quantity(number, Dimension::joules) + "/sample";
  if (unit == "FLOP") return format_quantity(number, Dimension::flop);
  const std::string plain = format_quantity(number, Dimension::none);
  return unit.empty() ? plain : plain + " " + unit + (unit == "sample" && number != 1 ? "s" : "");
}

std::string format_seconds(double seconds) {
  return format_quantity(seconds, Dimension::seconds);
}

std::string percent(double share) {
  return format_quantity(100 * share, Dimension::none) + " %";
}

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i > first && (text.size() - i) % 3 == 0) result += ' ';
    result += text[i];
  }
  return result;
}

std::string milliseconds(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  const double ms = seconds * 1e3;
  const int whole_digits = ms == 0 ? 1 : static_cast<int>(std::floor(std::log10(std::abs(ms)))) + 1;
  return digits(ms, std::clamp(6 - whole_digits, 3, 18));
}

std::string ratio(double number) {
  const int whole_digits =
      number == 0 ? 1 : static_cast<int>(std::floor(std::log10(std::abs(number)))) + 1;
  return std::isfinite(number) ? digits(number, std::clamp(4 - whole_digits, 2, 18)) : "-";
}

std::string clock(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::clamp(std::ceil(seconds), 0.0, 1e15));
  if (whole < 60) return std::to_string(whole) + " s";
  const auto two = [](std::int64_t n) { return (n < 10 ? ":0" : ":") + std::to_string(n); };
  if (whole < 3600) return std::to_string(whole / 60) + two(whole % 60);
  return std::to_string(whole / 3600) + two(whole / 60 % 60) + two(whole % 60);
}

}  // namespace sluice
