// Divides the text or the digest of a plan into lines, to compare two texts line by line.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "plan/words.hpp"

namespace sluice {

inline constexpr std::string_view digest_format = "format: sluice-plan-digest/1";

/// Calls `each` with every line of a plan's text.
template <class Each>
void for_lines(std::string_view text, const std::string& name, Each&& each) {
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    each(PlanLine{&name, ++number, text.substr(0, end)});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

inline bool begins_section(std::string_view line) {
  return line == "prologue:" || line == "body:" || line == "epilogue:";
}

}  // namespace sluice
