#include "document/packed_value.hpp"

#include "base/number_in.hpp"
#include "base/packed_strings.hpp"
#include "base/quantity.hpp"

namespace sluice {

namespace {

/// Returns the content of a scalar. A list and a map have none.
std::string content_of(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::boolean:
      return value.as_bool() ? "1" : "0";
    case Value::Kind::integer:
      return std::to_string(value.as_integer());
    case Value::Kind::number:
      return exact(value.as_number());
    default:
      return "";
  }
}

Value made(Value::Kind kind, std::string_view content, std::string_view text) {
  switch (kind) {
    case Value::Kind::boolean:
      return Value::make(content == "1");
    case Value::Kind::integer:
      return Value::make(number_in<std::int64_t>(content).value());
    case Value::Kind::number:
      return Value::make(number_in<double>(content).value());
    case Value::Kind::string:
      return Value::make(std::string(text));
    case Value::Kind::list:
      return Value::make_list();
    case Value::Kind::map:
      return Value::make_map();
    default:
      return Value::make_null();
  }
}

constexpr std::size_t own_parts = 6;    // the parts of a value before its items or entries
constexpr std::size_t entry_parts = 4;  // the parts of an entry

}  // namespace

std::string packed(const Value& value) {
  const Position at = value.position();
  const std::shared_ptr<const Source>& source = value.source();
  std::vector<std::string> parts = {std::to_string(static_cast<int>(value.kind())),
                                    content_of(value),
                                    value.text(),
                                    source ? pack({source->name, source->text}) : "",
                                    std::to_string(at.line),
                                    std::to_string(at.column)};
  for (const Value& item : value.items()) parts.push_back(packed(item));
  for (const Value::Entry& entry : value.entries())
    parts.insert(parts.end(), {entry.key, std::to_string(entry.line), std::to_string(entry.column),
                               packed(entry.value)});
  return pack({parts.begin(), parts.end()});
}

Value value_from(std::string_view bytes) {
  const std::vector<std::string_view> parts = unpack(bytes);
  const auto kind = static_cast<Value::Kind>(number_in<int>(parts.at(0)).value());
  Value value = made(kind, parts.at(1), parts.at(2));
  if (value.is_scalar()) value.set_text(std::string(parts.at(2)));
  if (!parts.at(3).empty()) {
    const std::vector<std::string_view> source = unpack(parts[3]);
    value.place(std::make_shared<const Source>(
                    Source{std::string(source.at(0)), std::string(source.at(1))}),
                number_in<int>(parts.at(4)).value(), number_in<int>(parts.at(5)).value());
  }
  std::size_t next = own_parts;
  for (; value.is_list() && next < parts.size(); ++next)
    value.items().push_back(value_from(parts[next]));
  for (; value.is_map() && next + entry_parts <= parts.size(); next += entry_parts)
    value.entries().push_back({std::string(parts[next]), number_in<int>(parts[next + 1]).value(),
                               number_in<int>(parts[next + 2]).value(),
                               value_from(parts[next + 3])});
  return value;
}

}  // namespace sluice
