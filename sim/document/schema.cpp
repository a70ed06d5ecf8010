#include "document/schema.hpp"

#include <cmath>

#include "document/load.hpp"

namespace sluice {
namespace {

using List = std::vector<Value>;

Value text(std::string_view value) {
  return Value::make(std::string(value));
}

Value list(List items) {
  Value made = Value::make_list();
  made.items() = std::move(items);
  return made;
}

Value number(double value) {
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  return whole ? Value::make(static_cast<std::int64_t>(value)) : Value::make(value);
}

Value typed(std::string_view type) {
  Value schema = Value::make_map();
  schema.set("type", text(type));
  return schema;
}

Value words(const std::vector<std::string>& choices) {
  Value schema = Value::make_map();
  List items;
  for (const std::string& choice : choices) items.push_back(text(choice));
  schema.set("enum", list(std::move(items)));
  return schema;
}

/// A string: a number, perhaps blanks, one of the units.
Value quantity(Dimension dimension) {
  std::string units;
  for (const std::string& unit : units_of(dimension)) units += (units.empty() ? "" : "|") + unit;
  Value schema = typed("string");
  schema.set("pattern", text("^([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)? *(" + units + ")$"));
  return schema;
}

void set_range(Value& schema, const Field& field) {
  if (std::isfinite(field.minimum))
    schema.set(field.minimum_excluded ? "exclusiveMinimum" : "minimum", number(field.minimum));
  if (std::isfinite(field.maximum)) schema.set("maximum", number(field.maximum));
}

Value schema_of(const Record& record);

Value container(const Field& field) {
  Value schema = typed(field.type == Type::list ? "array" : "object");
  if (!field.record) return schema;
  if (field.type == Type::list) {
    schema.set("items", schema_of(*field.record));
  } else if (field.map_of) {
    schema.set("additionalProperties", schema_of(*field.record));
  } else {
    schema = schema_of(*field.record);
  }
  return schema;
}

Value value_schema(const Field& field) {
  Value schema = Value::make_map();
  switch (field.type) {
    case Type::boolean:
      schema.set("enum", list({Value::make(true), Value::make(false), text("yes"), text("no"),
                               text("on"), text("off")}));
      return schema;
    case Type::integer:
      schema = typed("integer");
      set_range(schema, field);
      return schema;
    case Type::number: {
      Value plain = typed("number");
      set_range(plain, field);
      Value percent = typed("string");
      percent.set("pattern", text("^([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)? *%$"));
      schema.set("anyOf", list({std::move(plain), std::move(percent)}));
      return schema;
    }
    case Type::quantity:
      return quantity(field.dimension);
    case Type::text:
      schema.set("type", list({text("string"), text("number"), text("boolean")}));
      return schema;
    case Type::choice:
      return words(field.choices);
    case Type::mapping:
    case Type::list:
      return container(field);
    case Type::any:
      return schema;
  }
  return schema;
}

/// The default as a value of its own type: an editor inserts it as it stands.
Value default_value(const Field& field) {
  const std::string& written = *field.default_text;
  if (field.type == Type::quantity || field.type == Type::text || field.type == Type::choice)
    return Value::make(written);
  if (written.empty()) return Value::make(written);
  Value parsed = parse_text(written, "default of " + field.name);
  return parsed;
}

/// The word that may stand for a mapping: a value of one of its keys, a path or a name.
Value word_schema(const Field& field) {
  for (const Field& inner : field.record->fields)
    if (inner.name == field.word_for && inner.type == Type::choice) return words(inner.choices);
  Value schema = typed("string");
  schema.set("minLength", number(1));
  return schema;
}

Value field_schema(const Field& field) {
  Value schema = value_schema(field);
  if (!field.word_for.empty()) {
    Value either = Value::make_map();
    either.set("anyOf", list({word_schema(field), std::move(schema)}));
    schema = std::move(either);
  }
  if (field.type != Type::choice && !field.choices.empty()) {
    Value both = Value::make_map();
    both.set("anyOf", list({std::move(schema), words(field.choices)}));
    schema = std::move(both);
  }
  if (!field.summary.empty()) schema.set("description", text(field.summary));
  if (field.default_text) schema.set("default", default_value(field));
  return schema;
}

Value schema_of(const Record& record) {
  Value schema = typed("object");
  if (!record.summary.empty()) schema.set("description", text(record.summary));
  Value properties = Value::make_map();
  List required;
  for (const Field& field : record.fields) {
    properties.set(field.name, field_schema(field));
    if (!field.optional && !field.default_text) required.push_back(text(field.name));
  }
  schema.set("properties", std::move(properties));
  if (!required.empty()) schema.set("required", list(std::move(required)));
  schema.set("additionalProperties", Value::make(record.open));
  return schema;
}

/// The keys that must be there: a variant leaves them to its base.
void require(Value& schema, Value keys, bool may_have_base) {
  if (!may_have_base) {
    schema.set("required", std::move(keys));
    return;
  }
  Value file = typed("string");
  file.set("description", text("another document, over which this one's keys are laid"));
  schema.find("properties")->set("file", std::move(file));
  Value alone = Value::make_map(), variant = Value::make_map();
  alone.set("required", std::move(keys));
  variant.set("required", list({text("file")}));
  schema.set("anyOf", list({std::move(alone), std::move(variant)}));
}

}  // namespace

std::string json_schema(const Record& record, const std::string& title, std::string_view kind,
                        bool may_have_base) {
  Value schema = Value::make_map();
  schema.set("$schema", text("http://json-schema.org/draft-07/schema#"));
  schema.set("title", text(title));
  Value format = Value::make_map();
  format.set("const", text("sluice-" + std::string(kind) + "/1"));
  format.set("description", text("what this file is, and the version of its format"));
  Value body = schema_of(record);
  body.find("properties")->set("format", std::move(format));
  Value required = list({text("format")});
  for (Value::Entry& entry : body.entries()) {
    if (entry.key != "required") {
      schema.set(entry.key, std::move(entry.value));
      continue;
    }
    for (Value& key : entry.value.items())
      if (key.text() != "format") required.items().push_back(std::move(key));
  }
  require(schema, std::move(required), may_have_base);
  return to_json(schema);
}

}  // namespace sluice
