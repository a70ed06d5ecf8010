// A function for ASCII letters. The result does not depend on the locale.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// Returns the text with small letters instead of capital letters. All other bytes stay as they are.
inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

}  // namespace sluice
