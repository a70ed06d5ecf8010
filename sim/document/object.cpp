#include "document/object.hpp"

#include <cmath>

namespace sluice {

namespace {

constexpr double exact_integers = 9007199254740992.0;  // 2^53

}  // namespace

Item::Item(double number)
    : value_(std::isfinite(number) ? Value::make(number) : Value::make_null()) {}

Value object(std::initializer_list<ObjectEntry> entries) {
  Value map = Value::make_map();
  for (const ObjectEntry& entry : entries)
    map.entries().push_back({std::string(entry.key), 0, 0, entry.value.take()});
  return map;
}

Value json_number(double number) {
  return Item(number).take();
}

Value json_count(double number) {
  const bool whole = number == std::floor(number) && std::abs(number) <= exact_integers;
  return whole ? Value::make(static_cast<std::int64_t>(number)) : json_number(number);
}

Value json_text(std::string_view text) {
  return Value::make(std::string(text));
}

Value list(std::initializer_list<Item> items) {
  Value list = Value::make_list();
  for (const Item& item : items) list.items().push_back(item.take());
  return list;
}

}  // namespace sluice
