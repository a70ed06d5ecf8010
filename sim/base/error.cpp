#include "base/error.hpp"

#include <algorithm>

#include "base/headline.hpp"

namespace sluice {
namespace {

// A line of a generated file may be megabytes long. So a message shows only the part around the column of the error.
constexpr std::size_t shown_width = 100;

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// Returns the byte index of a character of UTF-8 `text`. `column` counts characters from 1. If the text has fewer than
// `column` characters, returns its size.
std::size_t byte_of(const std::string& text, int column) {
  std::size_t at = 0;
  for (int seen = 1; at < text.size() && seen < column; ++seen) {
    ++at;
    while (at < text.size() && is_continuation(text[at])) ++at;
  }
  return at;
}

std::string picture(const Position& where) {
  const std::size_t caret = byte_of(where.source, where.column);
  std::size_t begin = caret > shown_width ? caret - shown_width / 2 : 0;
  while (begin < caret && is_continuation(where.source[begin])) ++begin;
  std::size_t end = std::min(where.source.size(), begin + shown_width);
  while (end < where.source.size() && is_continuation(where.source[end])) ++end;

  std::string line = begin > 0 ? "..." : "";
  std::string marks(line.size(), ' ');
  for (std::size_t i = begin; i < end; ++i) {
    const bool control = static_cast<unsigned char>(where.source[i]) < 0x20;
    line += control ? ' ' : where.source[i];
    if (i < caret && !is_continuation(where.source[i])) marks += ' ';
  }
  if (end < where.source.size()) line += "...";
  return "\n    " + line + "\n    " + marks + "^";
}

std::string located_message(const Position& where, const std::string& message) {
  if (where.file.empty()) return message;
  std::string text = where.file;
  if (where.line > 0) text += ":" + std::to_string(where.line) + ":" + std::to_string(where.column);
  text += ": error: " + message;
  if (where.line > 0 && !where.source.empty()) text += picture(where);
  return text;
}

}  // namespace

InputError::InputError(const Position& where, const std::string& message)
    : Error(3, located_message(where, message)), has_position_(!where.file.empty()) {}

InputError InputError::noted(const std::string& line) const {
  InputError more(std::string(what()) + "\n    " + line);
  more.has_position_ = has_position_;
  return more;
}

std::string Infeasible::headline() const {
  return headline_of(what());
}

}  // namespace sluice
