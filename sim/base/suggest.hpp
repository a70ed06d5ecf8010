// Help for messages: the nearest known name, and lists of names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Returns " (did you mean 'bandwidth'?)" if a known name is near enough by edit distance, else "".
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

/// Returns "a, b, c".
std::string join(const std::vector<std::string>& words, std::string_view separator = ", ");

}  // namespace sluice
