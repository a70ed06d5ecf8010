// Writes data to standard output, and messages to standard error. Colour, animation and UTF-8 pictures are used only on
// terminals that can show them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sluice {

/// Writes to standard output. If the reader has closed the pipe, this is not an error. Any other failure throws
/// IoError.
void print(std::string_view text);

/// Writes a line to standard error.
void message(std::string_view text);

/// Returns true if standard output is a terminal, NO_COLOR is not set, and TERM is not "dumb".
bool colour_wanted();
/// Returns whether the character set of the locale is UTF-8.
bool utf8_wanted();
/// Returns the number of columns of the terminal. If standard output is not a terminal, returns `otherwise`.
int terminal_width(int otherwise);

/// Returns the text in bold if colour is wanted, and unchanged otherwise.
std::string bold(std::string_view text);
/// Returns the text in an ANSI colour: 31 is red, 32 green, 33 yellow, 34 blue. If no colour is wanted, returns the
/// text unchanged.
std::string coloured(std::string_view text, int colour);

/// Returns text from a file in a form that is safe for a terminal. Control characters are replaced by '?', because they
/// could move the cursor or change the settings of the terminal.
std::string printable(std::string_view text);

/// Returns the number of columns that UTF-8 text occupies. Each character occupies one column.
std::size_t columns_of(std::string_view text);
/// Returns the text filled with blanks on the right, to `columns` columns.
std::string padded(std::string_view text, std::size_t columns);
/// Returns the text filled with blanks on the left, to `columns` columns.
std::string padded_left(std::string_view text, std::size_t columns);

/// Returns a bar of `width` columns that is filled to `share` (0..1). With UTF-8, the bar has a resolution of an eighth
/// of a column.
std::string bar(double share, std::size_t width);

/// Returns the words behind the bar of a ProgressLine, such as " 25.0 % 12 points/s 3 s left". The rate and the
/// remaining time are computed from the seconds that have passed. If `counted` is empty, the words have no rate.
std::string progress_words(std::int64_t done, std::int64_t total, double passed_s,
                           const std::string& counted);

/// A line on standard error with progress: a bar, a percentage, a rate and the remaining time. The line changes at most
/// ten times per second. It is shown only on a terminal.
class ProgressLine {
 public:
  /// Parameter `counted` names the things that are counted, such as "points". If `counted` is empty, the line has no
  /// rate.
  explicit ProgressLine(std::string counted = "");
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  bool active() const { return active_; }
  void show(std::int64_t done, std::int64_t total);
  /// Returns a function that calls show(). The line must live longer than the function.
  std::function<void(std::size_t done, std::size_t total)> counter();
  void clear();

 private:
  std::string counted_;
  bool active_ = false, shown_ = false;
  /// When the work began whose progress is shown, and when the line last changed: in seconds of a steady clock.
  double began_ = 0, last_ = 0;
};

}  // namespace sluice
