#include "plan/words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace sluice {

namespace {
/// By character: may it stand in a name without quotes?
constexpr std::array<bool, 256> plain = [] {
  std::array<bool, 256> table{};
  for (std::size_t c = 0x21; c < table.size(); ++c) table[c] = c != 0x7f;
  for (const char c : {'"', '\\', ',', '=', '@', '~', ':', '#'})
    table[static_cast<unsigned char>(c)] = false;
  return table;
}();

}  // namespace

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
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  std::size_t at = 0;
  while (true) {
    while (at < text.size() && is_blank(text[at])) ++at;
    if (at >= text.size() || text[at] == '#') return;
    const std::size_t begin = at;
    for (bool inside = false; at < text.size(); ++at) {
      const char c = text[at];
      if (inside && c == '\\')
        ++at;
      else if (c == '"')
        inside = !inside;
      else if (!inside && is_blank(c))
        break;
    }
    if (at > text.size()) at = text.size();
    words.push_back({text.substr(begin, at - begin), static_cast<int>(begin) + 1});
  }
}

std::string PlanLine::name(const Word& word) const {
  const std::string_view t = word.text;
  if (t.empty()) fail(word.column, "expected a name");
  if (t.front() != '"') {
    if (!is_bare(t))
      fail(word.column,
           "'" + std::string(t) + "': a name with such characters stands in double quotes");
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
      // Names are text: neither a zero byte nor half a character can be in them.
      if (error != std::errc{} || end != t.data() + i + 3 || code == 0 || code > 0x7f)
        fail(word.column + static_cast<int>(i),
             "bad escape in a name: \\x takes two hex digits, 01 to 7f");
      out += static_cast<char>(code);
      i += 2;
    } else {
      fail(word.column + static_cast<int>(i),
           "bad escape in a name; allowed: \\\" \\\\ \\n \\t \\xHH");
    }
  }
  if (i + 1 != t.size()) fail(word.column, "a quoted name that does not end, or text after it");
  return out;
}

}  // namespace sluice
