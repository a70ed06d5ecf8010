// Reads a text that is a number and nothing else.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace sluice {

/// Returns the number, or nothing if the text is anything else, or if the number is too large for the type. Blanks and a
/// leading '+' are not part of a number.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number = {};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return {};
  return number;
}

}  // namespace sluice
