#include "trace/export/text.hpp"

#include <cmath>

#include "base/quantity.hpp"

namespace sluice {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

unsigned byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
}

/// Bytes of the character at `i`; 0 where none begins. Neither overlong forms nor surrogates nor
/// what lies beyond U+10FFFF (RFC 3629).
std::size_t character_at(std::string_view text, std::size_t i) {
  const unsigned first = byte_at(text, i), second = byte_at(text, i + 1);
  const auto continues = [&](std::size_t at) { return (byte_at(text, at) & 0xC0) == 0x80; };
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(i + 1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool bad = (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0);
    return !bad && continues(i + 1) && continues(i + 2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool bad = (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
    return !bad && continues(i + 1) && continues(i + 2) && continues(i + 3) ? 4 : 0;
  }
  return 0;
}

void put_escape(std::string& out, unsigned code) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += "\\u";
  for (const int shift : {12, 8, 4, 0}) out += hex[(code >> shift) & 15];
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t bytes = character_at(text, i);
    out += bytes == 0 ? replacement : text.substr(i, bytes);
    i += bytes == 0 ? 1 : bytes;
  }
  return out;
}

std::string json_string(std::string_view text) {
  const std::string valid = valid_utf8(text);
  std::string out = "\"";
  for (std::size_t i = 0; i < valid.size();) {
    const std::string_view character = std::string_view(valid).substr(i, character_at(valid, i));
    const unsigned first = byte_at(valid, i);
    if (first == '"' || first == '\\')
      (out += '\\') += static_cast<char>(first);
    else if (first < 0x20 || first == 0x7F || first == '<')
      put_escape(out, first);
    else if (character == "\xE2\x80\xA8" || character == "\xE2\x80\xA9")
      put_escape(out, character.back() == '\xA8' ? 0x2028 : 0x2029);
    else
      out += character;
    i += character.size();
  }
  return out + '"';
}

std::string json_number_text(double number) {
  constexpr double exact_integers = 9007199254740992.0;  // 2^53
  if (!std::isfinite(number)) return "null";
  if (number == std::floor(number) && std::abs(number) <= exact_integers)
    return std::to_string(static_cast<std::int64_t>(number));
  return exact(number);
}

std::string data_island(const std::vector<std::vector<std::string>>& rows) {
  std::string text = "{\"func\": \"quick_plot\",\n \"data\": [";
  for (const auto& row : rows) {
    text += &row == rows.data() ? "\n  [" : ",\n  [";
    for (const std::string& cell : row) text += (&cell == row.data() ? "" : ", ") + cell;
    text += "]";
  }
  return text + "\n ]}\n";
}

}  // namespace sluice
