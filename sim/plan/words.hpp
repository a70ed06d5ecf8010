// Splits a plan's text into words: names with or without quotes, `key=value` pairs, and lists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace sluice {

/// Returns a name as it stands in a plan's text: without quotes, or in double quotes if it needs quotes. In quotes,
/// there is a backslash before a quote, before a backslash, and before the code of a control character.
std::string quoted(std::string_view name);
void add_quoted(std::string& out, std::string_view name);
/// Returns whether the name may be written without quotes.
bool is_bare(std::string_view name);

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
/// Returns the end of the part of a word that begins at `at`: the position of the next blank, '=' or quote. Sets `bare`
/// to whether the part is a name that needs no quotes.
std::size_t end_of_part(std::string_view text, std::size_t at, bool& bare);

/// One word of a line, or one element of a list, with its column.
struct Word {
  std::string_view text;  ///< the word as it is in the file, with its quotes
  int column = 1;
  /// For a word of a line: the position of its first '=' outside of quotes, or npos if it has no such '='.
  std::size_t equals = std::string_view::npos;
  /// If true, the text is a name that needs no quotes. If false, the text may still be such a name: split(), for
  /// example, leaves `bare` false for each element of a list.
  bool bare = false;
};
inline bool is_bare(const Word& word) {
  return word.bare || is_bare(word.text);
}

/// A line of a plan's text. Its functions split the line into words, and report faults in it.
struct PlanLine {
  const std::string* file;
  int number;
  std::string_view text;

  [[noreturn]] void fail(int column, const std::string& message) const;
  /// Splits the line into words at blanks outside of quotes. A '#' at the start of a word begins a comment, which is
  /// skipped.
  std::vector<Word> words() const;
  /// Does the same, but writes the words into a list that exists already. This is faster, because the list's memory is
  /// used again.
  void words(std::vector<Word>& words) const;
  /// Splits a word at each `separator` outside of quotes, and calls `each` with every part.
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
  /// Returns the name that a word stands for: its text without quotes, with a character instead of
  /// each escape.
  std::string name(const Word& word) const;
  /// Returns the position of the first `c` outside of quotes. Returns npos if there is no such `c`. rfind_bare()
  /// returns the position of the last one.
  static std::size_t find_bare(std::string_view text, char c, std::size_t from = 0);
  static std::size_t rfind_bare(std::string_view text, char c);
};

}  // namespace sluice
