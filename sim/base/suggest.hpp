// Makes parts of messages: lists of names, and suggestions for wrong names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Returns a text such as " (did you mean 'bandwidth'?)". If no known name is similar enough to `given`, returns "".
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

/// Returns the words as one text, with the separator between every two words: "a, b, c".
std::string join(const std::vector<std::string>& words, std::string_view separator = ", ");

}  // namespace sluice
