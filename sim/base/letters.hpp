// Letters of ASCII, whatever the locale.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// Small letters in the place of capitals; the rest stays.
inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

}  // namespace sluice
