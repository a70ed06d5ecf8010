// Converts the cells of a profile's table to values and back. If a cell cannot be read, a function throws InputError
// without a position. The caller adds the position.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::cell {

/// Splits a text such as "a; b" into its parts, without the blanks around each part.
std::vector<std::string> parts_of(std::string_view text, char separator = ';');

/// Reads a number, which must be finite and at least 0.
double number(const std::string& text);
std::int64_t whole(const std::string& text, std::int64_t minimum);
std::vector<double> numbers(const std::string& text);
/// Reads a list of shapes such as "8x64x56x56;64".
std::vector<std::vector<std::int64_t>> shapes(const std::string& text);
/// Reads named whole numbers such as "m=8192;n=4096".
std::vector<std::pair<std::string, std::int64_t>> sizes(const std::string& text);
/// Returns the index of `text` in `words`. Throws InputError if `words` does not have it.
std::size_t word(const std::string& text, const std::vector<std::string>& words);

std::string text_of(const std::vector<double>& numbers);
std::string text_of(const std::vector<std::string>& words);
std::string text_of(const std::vector<std::vector<std::int64_t>>& shapes);
std::string text_of(const std::vector<std::pair<std::string, std::int64_t>>& sizes);

}  // namespace sluice::cell
