#include "model/config.hpp"

#include <algorithm>

namespace sluice {

namespace {

std::string text_of(const Value& value) {
  if (value.is_scalar())
    return value.kind() == Value::Kind::integer ? std::to_string(value.as_integer()) : value.text();
  std::string text = value.is_list() ? "[" : "{";
  for (const Value& item : value.items()) text += (text.size() > 1 ? "," : "") + text_of(item);
  for (const Value::Entry& entry : value.entries())
    text += (text.size() > 1 ? "," : "") + entry.key + ":" + text_of(entry.value);
  return text + (value.is_list() ? "]" : "}");
}

}  // namespace

std::string config_of(const LayerType& type, const Reader& keys) {
  std::vector<std::string> words;
  for (const Field& field : type.parameters) {
    const Value* value = keys.value(field.name);
    if (value)
      words.push_back(field.name + "=" + text_of(*value));
    else if (field.default_text)
      words.push_back(field.name + "=" + *field.default_text);
  }
  std::sort(words.begin(), words.end());
  std::string text = type.name;
  for (const std::string& word : words) text += " " + word;
  return text;
}

}  // namespace sluice
