#include "document/builder.hpp"

#include <charconv>
#include <cmath>

#include "base/utf8.hpp"

namespace sluice {
namespace {

constexpr std::size_t large_map = 16;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool all_digits(std::string_view text) {
  for (const char c : text)
    if (!is_digit(c)) return false;
  return !text.empty();
}

// The text of a number has this form: [-+]? ( \. digits | digits ( \. digits* )? ) ( [eE] [-+]? digits )?
bool looks_like_number(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  std::size_t i = 0, digits = 0;
  while (i < text.size() && is_digit(text[i])) ++i, ++digits;
  if (i < text.size() && text[i] == '.') {
    ++i;
    while (i < text.size() && is_digit(text[i])) ++i, ++digits;
  }
  if (digits == 0) return false;
  if (i == text.size()) return true;
  if (text[i] != 'e' && text[i] != 'E') return false;
  ++i;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  return all_digits(text.substr(i));
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (text == word) return true;
  return false;
}

}  // namespace

void Builder::fail(Place place, const std::string& message) const {
  throw InputError(position_in(*source_, place.line, place.column), message);
}

/// A C string ends at a NUL. So programs in C would cut off a text at a NUL.
void Builder::refuse_nul(Place place, const std::string& text) const {
  if (text.find('\0') != std::string::npos)
    fail(place, "this text contains a NUL character (\\u0000, \\0): remove the character");
}

void Builder::key(Place place, std::string key) {
  refuse_nul(place, key);
  Open& open = open_.back();
  if (key == "<<")
    fail(place, "merge keys ('<<') are not allowed; write the keys of the other mapping instead");
  const auto& entries = open.value.entries();
  bool duplicate = false;
  if (entries.size() < large_map) {
    duplicate = open.value.find(key) != nullptr;
  } else {
    if (open.keys.empty())
      for (const auto& entry : entries) open.keys.insert(entry.key);
    duplicate = !open.keys.insert(key).second;
  }
  if (duplicate) {
    std::string message = "duplicate key '" + key + "'";
    for (const auto& entry : entries)
      if (entry.key == key)
        message +=
            " (first at line " + std::to_string(entry.line) + "): keep only one of the two keys";
    fail(place, message);
  }
  open.key = std::move(key);
  open.key_place = place;
  open.has_key = true;
}

void Builder::scalar(Place place, Value value) {
  refuse_nul(place, value.text());
  value.place(source_, place.line, place.column);
  add(std::move(value));
}

void Builder::begin(Place place, Value container) {
  if (open_.size() >= deepest)
    fail(place, "nested deeper than " + std::to_string(deepest) + " levels");
  container.place(source_, place.line, place.column);
  open_.emplace_back();
  open_.back().value = std::move(container);
}

void Builder::end() {
  Value value = std::move(open_.back().value);
  open_.pop_back();
  add(std::move(value));
}

void Builder::add(Value value) {
  if (open_.empty()) {
    root_ = std::move(value);
    done_ = true;
    return;
  }
  Open& open = open_.back();
  if (open.value.is_list()) {
    open.value.items().push_back(std::move(value));
    return;
  }
  open.value.entries().push_back(
      {std::move(open.key), open.key_place.line, open.key_place.column, std::move(value)});
  open.has_key = false;
}

Value number_value(const Builder& builder, Place place, std::string_view text) {
  std::string_view digits = text;
  if (!digits.empty() && digits[0] == '+') digits.remove_prefix(1);
  const std::string_view magnitude = digits.substr(digits.substr(0, 1) == "-" ? 1 : 0);
  if (magnitude.size() > 1 && magnitude[0] == '0' && is_digit(magnitude[1]))
    builder.fail(
        place,
        "'" + std::string(text) + "'" + builder.for_key() +
            " has a leading zero. Some programs would read it as octal: write the number without this zero, or in quotes");
  const char* const end = digits.data() + digits.size();
  Value value;
  if (all_digits(magnitude)) {
    std::int64_t integer = 0;
    if (std::from_chars(digits.data(), end, integer).ec != std::errc())
      builder.fail(place, "the integer '" + std::string(text.substr(0, 40)) + "'" +
                              builder.for_key() +
                              " does not fit in 64 bits: expected at most 9223372036854775807");
    value = Value::make(integer);
  } else {
    double number = 0;
    const auto [stop, error] = std::from_chars(digits.data(), end, number);
    if (error != std::errc() || stop != end || !std::isfinite(number))
      builder.fail(place, "the number '" + std::string(text.substr(0, 40)) + "'" +
                              builder.for_key() + " is out of range: expected -1.8e308 to 1.8e308");
    value = Value::make(number);
  }
  value.set_text(std::string(text));
  return value;
}

Value plain_value(const Builder& builder, Place place, const std::string& text) {
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return Value::make_null();
  if (is_one_of(text, {"true", "True", "TRUE"})) return Value::make(true);
  if (is_one_of(text, {"false", "False", "FALSE"})) return Value::make(false);
  if (looks_like_number(text)) return number_value(builder, place, text);
  std::string_view rest = text;
  if (rest[0] == '-' || rest[0] == '+') rest.remove_prefix(1);
  if (is_one_of(rest, {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"}))
    builder.fail(place, "'" + text + "'" + builder.for_key() + " is not a finite number");
  const bool based = rest.size() > 2 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'o') &&
                     rest.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos;
  if (based)
    builder.fail(
        place,
        "'" + text + "'" + builder.for_key() +
            " is a number in another base than ten; write the number in decimal, or in quotes");
  return Value::make(text);
}

bool looks_like_json(std::string_view text) {
  const std::size_t brace = text.find_first_not_of(" \t\r\n");
  if (brace == std::string_view::npos || text[brace] != '{') return false;
  const std::size_t next = text.find_first_not_of(" \t\r\n", brace + 1);
  return next != std::string_view::npos && text[next] == '"';
}

namespace {

/// Returns whether all characters are printable ASCII or ends of lines. Most texts consist of such characters and need
/// no other check.
bool is_plain(const char* block, std::size_t count) {
  unsigned char odd = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto c = static_cast<unsigned char>(block[i]);
    odd |=
        static_cast<unsigned char>((c < 0x20) | (c > 0x7E)) & static_cast<unsigned char>(c != '\n');
  }
  return odd == 0;
}

/// Returns the number of bytes of the character at `i`. If the character is not allowed, `wrong` receives the reason.
std::size_t character_at(const std::string& text, std::size_t i, std::string& wrong) {
  const auto c = static_cast<unsigned char>(text[i]);
  if (c < 0x80) {
    if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F)
      wrong = "a control character (byte " + std::to_string(c) + "): this is a binary file";
    return 1;
  }
  const std::size_t bytes = utf8_character(text, i);
  if (bytes == 0) wrong = "this is not UTF-8 text";
  return bytes;
}

/// Returns the position of byte `end`. The position has no text of its line, because bytes of this line cannot be
/// printed.
Position position_at(const Source& source, std::size_t end) {
  Position position{source.name, 1, 1, ""};
  for (std::size_t i = 0; i < end; ++i) {
    const auto c = static_cast<unsigned char>(source.text[i]);
    if (c == '\n')
      ++position.line, position.column = 1;
    else if ((c & 0xC0) != 0x80)  // The byte begins a character.
      ++position.column;
  }
  return position;
}

}  // namespace

void require_text(const Source& source) {
  const std::string& text = source.text;
  if (text.starts_with("\x89HDF"))
    throw InputError(
        position_at(source, 0),
        "this is an HDF5 file, such as a trace: `sluice show FILE` draws a trace, and `sluice export` converts it");
  constexpr std::size_t block = 64;
  std::string wrong;
  for (std::size_t i = 0; i < text.size();) {
    if (i + block <= text.size() && is_plain(text.data() + i, block)) {
      i += block;
      continue;
    }
    for (const std::size_t end = std::min(i + block, text.size()); i < end && wrong.empty();) {
      const std::size_t bytes = character_at(text, i, wrong);
      if (wrong.empty()) i += bytes;
    }
    // The message leaves out the line, which has bytes that cannot be printed.
    if (!wrong.empty()) throw InputError(position_at(source, i), wrong);
  }
}

}  // namespace sluice
