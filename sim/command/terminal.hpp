// Standard output and error: data goes to one, messages to the other. Colour, animation and UTF-8
// pictures only where they can be seen.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sluice {

/// Writes to standard output. A reader who has gone (a closed pipe) is nothing to complain about;
/// any other failure throws IoError.
void print(std::string_view text);

/// Writes a line to standard error.
void message(std::string_view text);

/// Standard output is a terminal that wants colour: NO_COLOR unset, TERM not "dumb".
bool colour_wanted();
/// The locale's character set is UTF-8.
bool utf8_wanted();
/// Columns of the terminal, or `otherwise` when standard output is none.
int terminal_width(int otherwise);

/// Bold where colour is wanted, the same text elsewhere.
std::string bold(std::string_view text);
/// In an ANSI colour (31 red, 32 green, 33 yellow, 34 blue), likewise.
std::string coloured(std::string_view text, int colour);

/// Text from a file as it may go to a terminal: without control characters, which could move the
/// cursor or do worse.
std::string printable(std::string_view text);

/// Columns that UTF-8 text takes, one a character.
std::size_t columns_of(std::string_view text);
/// Filled with blanks on the right (or left) to so many columns.
std::string padded(std::string_view text, std::size_t columns, bool right_aligned = false);

/// A bar of `width` columns filled to `share` (0..1), in eighths of a column with UTF-8.
std::string bar(double share, std::size_t width);

/// A line with bar, percentage and time left on standard error, at most ten times a second; nothing
/// where that is no terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  bool active() const { return active_; }
  void show(std::int64_t done, std::int64_t total);
  void clear();

 private:
  bool active_ = false, shown_ = false;
  double began_ = 0, last_ = 0;  ///< s, of a steady clock
};

}  // namespace sluice
