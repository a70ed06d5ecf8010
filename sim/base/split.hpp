// Splits a text at each place where a separator stands.
#pragma once

#include <string_view>
#include <vector>

namespace sluice {

/// Returns the parts of the text between the separators. A text without a separator is one part.
inline std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = text.find(separator); at != std::string_view::npos;
       at = text.find(separator)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.push_back(text);
  return parts;
}

}  // namespace sluice
