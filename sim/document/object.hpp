// Builds documents for output, for example object({{"name", name}, {"bytes", bytes}}).
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "document/value.hpp"

namespace sluice {

/// A value for object() or list(). Every type of value that a document can hold converts to Item. An empty optional
/// becomes null. A number that is not finite also becomes null.
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

  /// Moves the value out of this Item. Call this function only once. `value_` is mutable because the elements of an
  /// initialiser list are constants.
  Value take() const { return std::move(value_); }

 private:
  mutable Value value_;
};

struct ObjectEntry {
  std::string_view key;
  Item value;
};

/// Returns a mapping with these keys, in this order. The keys must differ.
Value object(std::initializer_list<ObjectEntry> entries);

Value list(std::initializer_list<Item> items);

/// Returns the list of make(element) for each element of `range`.
template <class Range, class Make>
Value list_of(const Range& range, Make&& make) {
  Value list = Value::make_list();
  for (const auto& element : range) list.items().push_back(Item(make(element)).take());
  return list;
}

/// json_number returns null for a number that is not finite. json_count returns an integer for a
/// whole number.
Value json_number(double number);
Value json_count(double number);
Value json_text(std::string_view text);

/// Returns the text. If the text is empty, returns null.
inline Item text_or_null(const std::string& text) {
  return text.empty() ? Item(nullptr) : Item(text);
}

}  // namespace sluice
