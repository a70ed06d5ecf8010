#include "trace/export/text.hpp"

#include <cmath>

#include "base/quantity.hpp"

namespace sluice {
namespace {

void put_escape(std::string& out, unsigned code) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += "\\u";
  for (const int shift : {12, 8, 4, 0}) out += hex[(code >> shift) & 15];
}

}  // namespace

std::string json_string(std::string_view text) {
  const std::string valid = valid_utf8(text);
  std::string out = "\"";
  for (std::size_t i = 0; i < valid.size();) {
    const std::string_view character = std::string_view(valid).substr(i, utf8_character(valid, i));
    const auto first = static_cast<unsigned char>(valid[i]);
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
