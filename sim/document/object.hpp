// Documents that the program writes: object({{"name", name}, {"bytes", bytes}}) in one expression.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "document/value.hpp"

namespace sluice {

/// What stands in an object or a list: whatever a document can hold. None, and a number that is not
/// finite, are null.
class Item {
 public:
  Item(Value value) : value_(std::move(value)) {}
  Item(std::nullptr_t) {}
  Item(bool value) : value_(Value::make(value)) {}
  template <std::integral Number>
  Item(Number number) : value_(Value::make(static_cast<std::int64_t>(number))) {}
  Item(double number);
  Item(std::string text) : value_(Value::make(std::move(text))) {}
  Item(std::string_view text) : Item(std::string(text)) {}
  Item(const char* text) : Item(std::string(text)) {}
  template <class T>
  Item(const std::optional<T>& value) {
    if (value) value_ = Item(*value).take();
  }

  /// The value, once: an initialiser list hands out its elements as constants.
  Value take() const { return std::move(value_); }

 private:
  mutable Value value_;
};

struct ObjectEntry {
  std::string_view key;
  Item value;
};

/// A mapping with these keys, which differ, in this order.
Value object(std::initializer_list<ObjectEntry> entries);

Value list(std::initializer_list<Item> items);

/// A list of what `make` makes of each element.
template <class Range, class Make>
Value list_of(const Range& range, Make&& make) {
  Value list = Value::make_list();
  for (const auto& element : range) list.items().push_back(Item(make(element)).take());
  return list;
}

/// null where the number is not finite; an integer where it is a whole number of things.
Value json_number(double number);
Value json_count(double number);
Value json_text(std::string_view text);

/// An empty text as null.
inline Item text_or_null(const std::string& text) {
  return text.empty() ? Item(nullptr) : Item(text);
}

}  // namespace sluice
