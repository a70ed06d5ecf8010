#include "plan/words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace sluice {

namespace {
/// For each character: whether a name without quotes may contain it.
constexpr std::array<bool, 256> plain = [] {
  std::array<bool, 256> table{};
  for (std::size_t c = 0x21; c < table.size(); ++c) table[c] = c != 0x7f;
  for (const char c : {'"', '\\', ',', '=', '@', '~', ':', '#'})
    table[static_cast<unsigned char>(c)] = false;
  return table;
}();

enum Mark : unsigned char {
  pauses = 1,       ///< the character ends a part of a word, or has a meaning within a word
  needs_quotes = 2  ///< a name with this character needs quotes
};
/// For each character, its marks (Mark). The index is the character.
constexpr std::array<unsigned char, 256> marks = [] {
  std::array<unsigned char, 256> table{};
  for (std::size_t c = 0; c < table.size(); ++c) table[c] = plain[c] ? 0 : needs_quotes;
  for (const char c : {' ', '\t', '\r', '"', '='}) table[static_cast<unsigned char>(c)] |= pauses;
  return table;
}();

/// Returns the position after the closing quote of the quoted text that begins at `at`.
std::size_t end_of_quotes(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

/// Returns the position of the first character that has a mark in the table `marks`, from the position `at` on. If
/// there is no such character, returns the end of the text.
std::size_t next_mark(std::string_view text, std::size_t at) {
  while (at < text.size() && marks[static_cast<unsigned char>(text[at])] == 0) ++at;
  return at;
}

/// Returns the word that begins at the position `begin`.
Word take_word(std::string_view text, const std::size_t begin) {
  Word word{{}, static_cast<int>(begin) + 1};
  std::size_t at = next_mark(text, begin), value = begin;
  unsigned seen = 0;
  for (unsigned mark = 0; at < text.size(); seen |= mark, at = next_mark(text, at)) {
    mark = marks[static_cast<unsigned char>(text[at])];
    if ((mark & pauses) == 0) {
      ++at;
    } else if (text[at] == '"') {
      at = end_of_quotes(text, at);
    } else if (text[at] != '=') {
      break;
    } else {
      if (word.equals == std::string_view::npos) {
        word.equals = at - begin;
        value = at + 1;
        seen = mark = 0;
      }
      ++at;
    }
  }
  word.bare = (seen & needs_quotes) == 0 && at > value;
  word.text = text.substr(begin, at - begin);
  return word;
}

}  // namespace

std::size_t end_of_part(std::string_view text, std::size_t at, bool& bare) {
  const auto mark = [&](std::size_t i) -> unsigned {
    return marks[static_cast<unsigned char>(text[i])];
  };
  const std::size_t begin = at;
  unsigned seen = 0;
  while (at + 4 <= text.size()) {
    const unsigned four = mark(at) | mark(at + 1) | mark(at + 2) | mark(at + 3);
    if ((four & pauses) != 0) break;
    seen |= four;
    at += 4;
  }
  for (; at < text.size() && (mark(at) & pauses) == 0; ++at) seen |= mark(at);
  bare = (seen & needs_quotes) == 0 && at > begin;
  return at;
}

bool is_bare(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(),
                                      [](char c) { return plain[static_cast<unsigned char>(c)]; });
}

std::string quoted(std::string_view name) {
  std::string out;
  add_quoted(out, name);
  return out;
}

void add_quoted(std::string& out, std::string_view name) {
  if (is_bare(name)) {
    out += name;
    return;
  }
  out += '"';
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (u < 0x20 || u == 0x7f) {
      char hex[8];
      std::snprintf(hex, sizeof hex, "\\x%02x", u);
      out += hex;
    } else {
      out += c;
    }
  }
  out += '"';
}

void PlanLine::fail(int column, const std::string& message) const {
  throw InputError(Position{*file, number, column, std::string(text)}, message);
}

std::size_t PlanLine::find_bare(std::string_view text, char c, std::size_t from) {
  const std::size_t first = text.find(c, from);
  if (first == std::string_view::npos || text.find('"') > first) return first;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (inside && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      inside = !inside;
    } else if (!inside && i >= from && text[i] == c) {
      return i;
    }
  }
  return std::string_view::npos;
}

std::size_t PlanLine::rfind_bare(std::string_view text, char c) {
  if (text.find('"') == std::string_view::npos) return text.rfind(c);
  std::size_t last = std::string_view::npos;
  for (std::size_t at = find_bare(text, c); at != std::string_view::npos;
       at = find_bare(text, c, at + 1))
    last = at;
  return last;
}

std::vector<Word> PlanLine::words() const {
  std::vector<Word> list;
  words(list);
  return list;
}

void PlanLine::words(std::vector<Word>& words) const {
  words.clear();
  std::size_t at = 0;
  while (true) {
    while (at < text.size() && is_blank(text[at])) ++at;
    if (at >= text.size() || text[at] == '#') return;
    words.push_back(take_word(text, at));
    at += words.back().text.size();
  }
}

std::string PlanLine::name(const Word& word) const {
  const std::string_view t = word.text;
  if (t.empty()) fail(word.column, "expected a name");
  if (t.front() != '"') {
    if (!is_bare(t))
      fail(word.column,
           "'" + std::string(t) + "': put a name with these characters in double quotes");
    return std::string(t);
  }
  std::string out;
  std::size_t i = 1;
  for (; i < t.size() && t[i] != '"'; ++i) {
    if (t[i] != '\\') {
      out += t[i];
      continue;
    }
    const char c = ++i < t.size() ? t[i] : '\0';
    if (c == 'n' || c == 't') {
      out += c == 'n' ? '\n' : '\t';
    } else if (c == '"' || c == '\\') {
      out += c;
    } else if (c == 'x' && i + 2 < t.size()) {
      unsigned code = 0;
      const auto [end, error] = std::from_chars(t.data() + i + 1, t.data() + i + 3, code, 16);
      // A name is UTF-8, and has no zero bytes. So an escape must not stand for a zero byte, and not for a single byte
      // of a character that has several bytes.
      if (error != std::errc{} || end != t.data() + i + 3 || code == 0 || code > 0x7f)
        fail(word.column + static_cast<int>(i),
             "bad escape in a name: \\x takes two hex digits, 01 to 7f");
      out += static_cast<char>(code);
      i += 2;
    } else {
      fail(word.column + static_cast<int>(i),
           "bad escape in a name; allowed escapes: \\\" \\\\ \\n \\t \\xHH");
    }
  }
  if (i + 1 != t.size())
    fail(word.column,
         "a quoted name does not end, or text follows its "
         "closing quote");
  return out;
}

}  // namespace sluice
