#include "document/schema.hpp"

#include <algorithm>
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

/// A string with a number, perhaps blanks, and one of the units.
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

/// Whether the keys that a whole document must have are required. They are not in a document that
/// is laid over another.
enum class Requires { all, nothing };

Value schema_of(const Record& record, Requires required);

Value container(const Field& field, Requires required) {
  Value schema = typed(field.type == Type::list ? "array" : "object");
  if (!field.record) return schema;
  if (field.type == Type::list) {
    schema.set("items", schema_of(*field.record, Requires::all));
  } else if (field.map_of) {
    schema.set("additionalProperties", schema_of(*field.record, required));
  } else {
    schema = schema_of(*field.record, required);
  }
  return schema;
}

/// One element or a list of them; each element is a name or a mapping.
Value name_or_mapping_or_list(Value mapping) {
  Value one = Value::make_map(), several = typed("array");
  one.set("anyOf", list({typed("string"), mapping}));
  several.set("items", std::move(one));
  several.set("minItems", number(1));
  Value any = Value::make_map();
  any.set("anyOf", list({typed("string"), std::move(mapping), std::move(several)}));
  return any;
}

Value value_schema(const Field& field, Requires required) {
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
      return container(field, required);
    case Type::any:
      return field.record ? name_or_mapping_or_list(schema_of(*field.record, required)) : schema;
  }
  return schema;
}

/// The default as a value of its own type, so that an editor can insert it as it is.
Value default_value(const Field& field) {
  const std::string& written = *field.default_text;
  if (field.type == Type::quantity || field.type == Type::text || field.type == Type::choice)
    return Value::make(written);
  if (written.empty()) return Value::make(written);
  Value parsed = parse_text(written, "default of " + field.name);
  return parsed;
}

/// The word that may stand for a mapping: the value of one of its keys, a path, or a name.
Value word_schema(const Field& field) {
  for (const Field& inner : field.record->fields)
    if (inner.name == field.word_for && inner.type == Type::choice) return words(inner.choices);
  Value schema = typed("string");
  schema.set("minLength", number(1));
  return schema;
}

/// Writes each variant as "if the mapping says this, then these are its keys". Two variants may use
/// one key in different meanings, so outside the variants only the key that chooses the variant is
/// described.
Value with_variants(Value schema, const std::vector<SchemaVariant>& variants) {
  if (variants.empty()) return schema;
  const std::string& name = variants.front().when.front().first;
  Value properties = Value::make_map();
  properties.set(name, std::move(*schema.find("properties")->find(name)));
  schema.set("properties", std::move(properties));
  List rules;
  for (const SchemaVariant& variant : variants) {
    Value said = Value::make_map(), known = Value::make_map(), condition = Value::make_map();
    List present;
    for (const auto& [key, word] : variant.when) {
      Value constant = Value::make_map();
      constant.set("const", text(word));
      said.set(key, std::move(constant));
      const auto& fields = variant.record.fields;
      const auto field = std::find_if(fields.begin(), fields.end(),
                                      [&key = key](const Field& one) { return one.name == key; });
      if (field == fields.end() || field->default_text != word) present.push_back(text(key));
    }
    condition.set("properties", std::move(said));
    condition.set("required", list(std::move(present)));
    Value rule = Value::make_map();
    rule.set("if", std::move(condition));
    rule.set("then", schema_of(variant.record, Requires::all));
    rules.push_back(std::move(rule));
  }
  schema.set("allOf", list(std::move(rules)));
  return schema;
}

Value field_schema(const Field& field, Requires required,
                   const std::vector<SchemaVariant>& variants = {}) {
  Value schema = with_variants(value_schema(field, required), variants);
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

Value schema_of(const Record& record, Requires required) {
  Value schema = typed("object");
  if (!record.summary.empty()) schema.set("description", text(record.summary));
  Value properties = Value::make_map();
  List needed;
  for (const Field& field : record.fields) {
    properties.set(field.name, field_schema(field, required));
    if (!field.optional && !field.default_text) needed.push_back(text(field.name));
  }
  schema.set("properties", std::move(properties));
  if (!needed.empty() && required == Requires::all) schema.set("required", list(std::move(needed)));
  schema.set("additionalProperties", Value::make(record.open));
  return schema;
}

/// The schema of a whole document, or (with `Requires::nothing`) of one that is laid over another.
Value document_schema(const Record& record, std::string_view kind, const SchemaRules& rules,
                      Requires required) {
  Value schema = schema_of(record, required);
  Value& properties = *schema.find("properties");
  for (const auto& [key, variants] : rules.variants)
    for (const Field& field : record.fields)
      if (field.name == key) properties.set(key, field_schema(field, required, variants));
  Value format = Value::make_map();
  format.set("const", text("sluice-" + std::string(kind) + "/1"));
  format.set("description", text("what this file is, and the version of its format"));
  properties.set("format", std::move(format));
  if (required == Requires::nothing) {
    Value file = typed("string");
    file.set("description", text("another document, over which the keys of this one are laid"));
    properties.set("file", std::move(file));
    return schema;
  }
  List needed = {text("format")};
  if (Value* others = schema.find("required"))
    for (Value& key : others->items())
      if (key.text() != "format") needed.push_back(std::move(key));
  schema.set("required", list(std::move(needed)));
  return schema;
}

}  // namespace

std::string json_schema(const Record& record, const std::string& title, std::string_view kind,
                        const SchemaRules& rules) {
  Value schema = Value::make_map();
  schema.set("$schema", text("http://json-schema.org/draft-07/schema#"));
  schema.set("title", text(title));
  Value whole = document_schema(record, kind, rules, Requires::all);
  if (!rules.may_have_base) {
    for (Value::Entry& entry : whole.entries()) schema.set(entry.key, std::move(entry.value));
    return to_json(schema);
  }
  Value has_base = Value::make_map();
  has_base.set("required", list({text("file")}));
  schema.set("type", text("object"));
  schema.set("if", std::move(has_base));
  schema.set("then", document_schema(record, kind, rules, Requires::nothing));
  schema.set("else", std::move(whole));
  return to_json(schema);
}

}  // namespace sluice
