#include "document/value.hpp"

#include <algorithm>

#include "base/quantity.hpp"

namespace sluice {

Value Value::make_null() {
  Value value;
  value.text_ = "null";
  return value;
}

Value Value::make(bool value) {
  Value made;
  made.kind_ = Kind::boolean;
  made.boolean_ = value;
  made.text_ = value ? "true" : "false";
  return made;
}

Value Value::make(std::int64_t value) {
  Value made;
  made.kind_ = Kind::integer;
  made.integer_ = value;
  made.number_ = static_cast<double>(value);
  made.text_ = std::to_string(value);
  return made;
}

Value Value::make(double value) {
  Value made;
  made.kind_ = Kind::number;
  made.number_ = value;
  made.text_ = exact(value);
  // The text of a number needs a decimal point or an exponent. Without either of them, the text would be read back as
  // an integer.
  if (made.text_.find_first_of(".e") == std::string::npos) made.text_ += ".0";
  return made;
}

Value Value::make(std::string value) {
  Value made;
  made.kind_ = Kind::string;
  made.text_ = std::move(value);
  return made;
}

Value Value::make_list() {
  Value made;
  made.kind_ = Kind::list;
  return made;
}

Value Value::make_map() {
  Value made;
  made.kind_ = Kind::map;
  return made;
}

std::string_view Value::kind_name() const {
  switch (kind_) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return "a boolean";
    case Kind::integer:
      return "an integer";
    case Kind::number:
      return "a number";
    case Kind::string:
      return "a string";
    case Kind::list:
      return "a list";
    case Kind::map:
      return "a mapping";
  }
  return "a value";
}

const Value* Value::find(std::string_view key) const {
  for (const Entry& entry : entries_)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

Value* Value::find(std::string_view key) {
  for (Entry& entry : entries_)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

void Value::set(std::string key, Value value) {
  const int line = value.line_, column = value.column_;
  for (Entry& entry : entries_)
    if (entry.key == key) {
      // `entry.line` is a line in the source of the value. The new value may come from another source. So the line of
      // the key is replaced, too.
      entry.line = line;
      entry.column = column;
      entry.value = std::move(value);
      return;
    }
  entries_.push_back({std::move(key), line, column, std::move(value)});
}

void Value::set_text(std::string text) {
  text_ = std::move(text);
}

Position position_in(const Source& source, int line, int column) {
  Position position{source.name, line, column, ""};
  std::size_t begin = 0;
  for (int at = 1; at < line; ++at) {
    begin = source.text.find('\n', begin);
    if (begin == std::string::npos) return position;
    ++begin;
  }
  const std::size_t end = std::min(source.text.find('\n', begin), source.text.size());
  position.source = source.text.substr(begin, end - begin);
  while (!position.source.empty() && position.source.back() == '\r') position.source.pop_back();
  return position;
}

Position Value::position() const {
  return source_ ? position_in(*source_, line_, column_) : Position{};
}

void Value::place(std::shared_ptr<const Source> source, int line, int column) {
  source_ = std::move(source);
  line_ = line;
  column_ = column;
}

Position Value::Entry::position() const {
  return value.source() ? position_in(*value.source(), line, column) : Position{};
}

}  // namespace sluice
