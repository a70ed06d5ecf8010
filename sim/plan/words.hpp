// The words of a plan's text: names with or without quotes, `key=value` pairs, and lists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace sluice {

/// Returns a name as it appears in a plan's text: without quotes, or in double quotes. Inside the quotes, a backslash
/// comes before quotes, backslashes, and the codes of control characters.
std::string quoted(std::string_view name);
void add_quoted(std::string& out, std::string_view name);
/// Returns whether the name may be written without quotes.
bool is_bare(std::string_view name);

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
/// A part of a word begins at `at`. Returns its end: the position of the next blank, '=' or quote. `bare` says
/// whether the part is a name that needs no quotes.
std::size_t end_of_part(std::string_view text, std::size_t at, bool& bare);

/// One word of a line, or one element of a list, with its column.
struct Word {
  std::string_view text;  ///< the word as it is in the file, with its quotes
  int column = 1;
  /// For a word of a line, the position of its first '=' outside of quotes. Without such a '=', npos.
  std::size_t equals = std::string_view::npos;
  /// If true, the text is a name that needs no quotes. If false, this is not known. It can be true for a word of a
  /// line, and for the value after its '='.
  bool bare = false;
};
inline bool is_bare(const Word& word) {
  return word.bare || is_bare(word.text);
}

/// A line of a plan's text. This class also reports faults in the line.
struct PlanLine {
  const std::string* file;
  int number;
  std::string_view text;

  [[noreturn]] void fail(int column, const std::string& message) const;
  /// Splits the line into words at blanks outside of quotes. A '#' at the start of a word begins a comment, which is
  /// skipped.
  std::vector<Word> words() const;
  /// Splits the line like words(), but reuses the memory of this list.
  void words(std::vector<Word>& words) const;
  /// Splits at `separator` outside of quotes, and calls `each` with every part.
  template <class Each>
  static void split(const Word& list, char separator, Each&& each) {
    Word rest = list;
    while (true) {
      const std::size_t end = find_bare(rest.text, separator);
      if (end == std::string_view::npos) return each(rest);
      each(Word{rest.text.substr(0, end), rest.column});
      rest = {rest.text.substr(end + 1), rest.column + static_cast<int>(end) + 1};
    }
  }
  /// Returns the name that a word contains, without quotes.
  std::string name(const Word& word) const;
  /// Returns the position of the first `c` outside of quotes, or npos if there is no such `c`.
  static std::size_t find_bare(std::string_view text, char c, std::size_t from = 0);
  static std::size_t rfind_bare(std::string_view text, char c);
};

}  // namespace sluice
