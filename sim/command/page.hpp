// The width of what is printed: text that is broken at blanks, so that a terminal need not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Columns of the terminal, or of the variable COLUMNS where standard output is none; 0: no limit,
/// as for a script that reads lines.
std::size_t page_width();

/// Columns that text takes which may hold what switches colours.
std::size_t shown_columns(std::string_view text);

/// `text` in lines of at most `room` columns, broken at blanks; a word that is longer stands alone.
/// Room 0: one line.
std::vector<std::string> broken(std::string_view text, std::size_t room);

/// Lines that pass the page go on below, as far to the right as their own text begins: behind a
/// label that two blanks end, or else behind their indentation.
std::string folded(std::string_view text, std::size_t page);

/// The same, where lines without indentation or label that follow one another are one paragraph.
std::string reflowed(std::string_view text, std::size_t page);

}  // namespace sluice
