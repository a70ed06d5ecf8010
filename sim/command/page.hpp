// Breaks printed text at blanks, to fit the width of the page. Without this, the terminal would break long lines in the
// middle of words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Returns the number of columns of the terminal. If standard output is not a terminal, returns the environment
/// variable COLUMNS. If the variable is not set, returns 0: lines have no limit, as a script expects.
std::size_t page_width();

/// Returns the number of columns that a text occupies. Escape sequences that switch colours occupy no columns.
std::size_t shown_columns(std::string_view text);

/// Breaks `text` at blanks into lines of at most `room` columns. A longer word has a line of its own. If `room` is 0,
/// the text stays one line.
std::vector<std::string> broken(std::string_view text, std::size_t room);

/// Breaks lines that are longer than the page. The parts of a broken line are indented to the column at which the
/// line's text begins. The text begins behind a label that ends with two blanks, or else behind the line's own
/// indentation.
std::string folded(std::string_view text, std::size_t page);

/// Puts two blanks before each line.
std::string indented(std::string_view text);

/// Breaks lines as folded() does, and also joins consecutive lines without indentation or label into one paragraph.
std::string reflowed(std::string_view text, std::size_t page);

}  // namespace sluice
