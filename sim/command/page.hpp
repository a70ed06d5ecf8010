// Fits printed text to the width of the page, by breaking it at blanks, so that the terminal does
// not break it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Columns of the terminal, or of the variable COLUMNS where standard output is not a terminal; 0:
/// no limit, as for a script that reads lines.
std::size_t page_width();

/// The number of columns of a text that may contain sequences which switch colours.
std::size_t shown_columns(std::string_view text);

/// `text` in lines of at most `room` columns, broken at blanks; a longer word has a line of its
/// own. With `room` 0 it is one line.
std::vector<std::string> broken(std::string_view text, std::size_t room);

/// Lines that are longer than the page continue below, indented to where their own text begins:
/// behind a label that ends with two blanks, or else behind their indentation.
std::string folded(std::string_view text, std::size_t page);

/// The same, but consecutive lines without indentation or label are joined into one paragraph.
std::string reflowed(std::string_view text, std::size_t page);

}  // namespace sluice
