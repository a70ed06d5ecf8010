#include "document/schema.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/suggest.hpp"
#include "document/key.hpp"
#include "document/load.hpp"
#include "document/object.hpp"

namespace sluice {
namespace {

using List = std::vector<Value>;

Value list_from(List items) {
  Value made = Value::make_list();
  made.items() = std::move(items);
  return made;
}

Value typed(std::string_view type) {
  return object({{"type", type}});
}

Value words(const std::vector<std::string>& choices) {
  return object({{"enum", list_of(choices, json_text)}});
}

/// Returns the schema of a string that matches the regular expression.
Value matching(std::string pattern) {
  return object({{"type", "string"}, {"pattern", std::move(pattern)}});
}

constexpr const char* number_pattern = "^([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)? *";

/// Returns the schema of a string: a number, optional blanks, and one of the units.
Value quantity(Dimension dimension) {
  return matching(number_pattern + ("(" + join(units_of(dimension), "|")) + ")$");
}

void set_range(Value& schema, const Field& field) {
  if (std::isfinite(field.minimum))
    schema.set(field.minimum_excluded ? "exclusiveMinimum" : "minimum", json_count(field.minimum));
  if (std::isfinite(field.maximum)) schema.set("maximum", json_count(field.maximum));
}

/// Returns a schema that accepts a value if at least one of `schemas` accepts it.
Value any_of(List schemas) {
  return object({{"anyOf", list_from(std::move(schemas))}});
}

/// Returns the schema of a string that holds an expression. The schema requires an operator or a `$` in the string. A
/// single word is probably a mistake, so editors mark it.
Value expression() {
  return matching("[$+*/()]");
}

Value integers() {
  return object({{"type", "array"}, {"items", any_of({typed("integer"), expression()})}});
}

/// Returns the default as a value of the field's type. So an editor can insert the default unchanged.
Value default_value(const Field& field) {
  const std::string& written = *field.default_text;
  if (field.type == Type::quantity || field.type == Type::text || field.type == Type::choice)
    return json_text(written);
  if (written.empty()) return json_text(written);
  return parse_text(written, "default of " + field.name);
}

bool is_required(const Field& field) {
  return !field.optional && !field.default_text;
}

/// A document may give one word instead of a mapping. Returns whether `word` is enough in this sense. `word` is a value
/// of the key `key`, and selects a SchemaVariant of the mapping. The word is enough if this variant requires no key
/// except `key`.
bool is_enough(const std::string& word, const std::string& key,
               const std::vector<SchemaVariant>& variants) {
  const std::pair<std::string, std::string> said = {key, word};
  for (const SchemaVariant& variant : variants)
    if (variant.when.front() == said)
      for (const Field& field : variant.record.fields)
        if (field.name != key && is_required(field)) return false;
  return true;
}

/// Returns the schema of a word that may replace a mapping. If the mapping's key `word_for` is a choice, the word is
/// one of its values. Otherwise the word may be any text, such as a path or a name.
Value word_schema(const Field& field, const std::vector<SchemaVariant>& variants) {
  for (const Field& inner : field.record->fields) {
    if (inner.name != field.word_for || inner.type != Type::choice) continue;
    std::vector<std::string> enough;
    for (const std::string& word : inner.choices)
      if (is_enough(word, inner.name, variants)) enough.push_back(word);
    return words(enough);
  }
  return object({{"type", "string"}, {"minLength", 1}});
}

/// Returns a schema that accepts a mapping only if the mapping has the values in the variant's `when`.
Value condition_of(const SchemaVariant& variant) {
  Value said = Value::make_map(), condition = Value::make_map();
  List present;
  for (const auto& [key, word] : variant.when) {
    if (!word.empty()) said.set(key, object({{"const", word}}));
    const Field* const field = find_field(variant.record.fields, key);
    if (!field || field->default_text != word) present.push_back(json_text(key));
  }
  if (!said.entries().empty()) condition.set("properties", std::move(said));
  condition.set("required", list_from(std::move(present)));
  return condition;
}

/// Says which keys a schema requires. A whole document must have each key without a default, except optional keys. A
/// document that is laid over another document may lack any key, because the other document may have it.
enum class Requires { all, nothing };

class SchemaWriter {
 public:
  explicit SchemaWriter(const SchemaRules& rules) : rules_(rules) {}

  /// Returns the schema of a document. If `required` is `Requires::nothing`, the document is laid over another
  /// document.
  Value document(const Record& record, std::string_view kind, Requires required) {
    Value schema = schema_of(record, required);
    Value& properties = *schema.find("properties");
    for (const auto& [key, variants] : rules_.variants)
      if (const Field* const field = find_field(record.fields, key))
        properties.set(key, field_schema(*field, required, variants));
    for (const auto& [key, included] : rules_.included)
      if (const Field* const field = find_field(record.fields, key))
        properties.set(
            key, with_summary(any_of({word_schema(*field, {}), with_base(included, key)}), *field));
    properties.set(
        "format",
        object({{"const", "sluice-" + std::string(kind) + "/1"},
                {"description", "the kind of this file, and the version of its format"}}));
    if (required == Requires::nothing) {
      properties.set("file",
                     object({{"type", "string"},
                             {"description",
                              "another document. The keys of this document are laid over it"}}));
      return schema;
    }
    List needed = {json_text("format")};
    if (Value* others = schema.find("required"))
      for (Value& key : others->items())
        if (key.text() != "format") needed.push_back(std::move(key));
    schema.set("required", list_from(std::move(needed)));
    return schema;
  }

  /// Returns the schema of a document that may be laid over another document. If it is laid over
  /// another document, its key `file` names that document.
  Value with_base(const Record& record, std::string_view kind) {
    return object({{"type", "object"},
                   {"if", object({{"required", list({"file"})}})},
                   {"then", document(record, kind, Requires::nothing)},
                   {"else", document(record, kind, Requires::all)}});
  }

  /// Returns the schemas of the shared records for which a schema has been written so far.
  const Value& definitions() const { return definitions_; }

 private:
  Value schema_of(const Record& record, Requires required,
                  const std::vector<std::string>& with_expressions = {}) {
    Value schema = typed("object");
    if (!record.summary.empty()) schema.set("description", json_text(record.summary));
    Value properties = Value::make_map();
    List needed;
    for (const Field& field : record.fields) {
      const bool computed = std::find(with_expressions.begin(), with_expressions.end(),
                                      field.name) != with_expressions.end();
      properties.set(field.name, field_schema(field, required, {}, computed));
      if (is_required(field)) needed.push_back(json_text(field.name));
    }
    schema.set("properties", std::move(properties));
    if (!needed.empty() && required == Requires::all)
      schema.set("required", list_from(std::move(needed)));
    schema.set("additionalProperties", Value::make(record.open));
    return schema;
  }

  Value field_schema(const Field& field, Requires required,
                     const std::vector<SchemaVariant>& variants = {}, bool computed = false) {
    Value schema = with_variants(
        computed ? computed_schema(field, required) : value_schema(field, required), variants);
    if (!field.word_for.empty()) schema = any_of({word_schema(field, variants), std::move(schema)});
    if (field.type != Type::choice && !field.choices.empty())
      schema = any_of({std::move(schema), words(field.choices)});
    schema = with_summary(std::move(schema), field);
    if (field.default_text) schema.set("default", default_value(field));
    return schema;
  }

  static Value with_summary(Value schema, const Field& field) {
    if (!field.summary.empty()) schema.set("description", json_text(field.summary));
    return schema;
  }

  Value value_schema(const Field& field, Requires required) {
    Value schema = Value::make_map();
    switch (field.type) {
      case Type::boolean:
        return object({{"enum", list({true, false, "yes", "no", "on", "off"})}});
      case Type::integer:
        schema = typed("integer");
        set_range(schema, field);
        return schema;
      case Type::number: {
        Value plain = typed("number");
        set_range(plain, field);
        return any_of({std::move(plain), matching(number_pattern + std::string("%$"))});
      }
      case Type::quantity:
        return quantity(field.dimension);
      case Type::text:
        return object({{"type", list({"string", "number", "boolean"})}});
      case Type::choice:
        return words(field.choices);
      case Type::mapping:
      case Type::list:
        return container(field, required);
      case Type::any:
        return field.record ? name_or_mapping_or_list(*field.record, required) : schema;
    }
    return schema;
  }

  /// Returns the schema of a value that is one element or a list of elements. Each element is a
  /// name or a mapping.
  Value name_or_mapping_or_list(const Record& record, Requires required) {
    Value alone = schema_of(record, required), first = schema_of(record, Requires::all);
    Value further = first;
    if (const auto key = rules_.further_key.find(record.name); key != rules_.further_key.end()) {
      for (Value* mapping : {&alone, &first})
        mapping->find("properties")->set(key->second, Value::make(false));
      if (!further.find("required")) further.set("required", list({}));
      further.find("required")->items().push_back(json_text(key->second));
    }
    Value several = object({{"type", "array"},
                            {"items", list({any_of({typed("string"), std::move(first)})})},
                            {"additionalItems", any_of({typed("string"), std::move(further)})},
                            {"minItems", 1}});
    return any_of({typed("string"), std::move(alone), std::move(several)});
  }

  /// Returns the schema of a value that may be an expression or contain expressions.
  Value computed_schema(const Field& field, Requires required) {
    switch (field.type) {
      case Type::boolean:
      case Type::integer:
      case Type::number:
        return any_of({value_schema(field, required), expression()});
      case Type::list:
        return integers();
      case Type::any:
        return any_of({typed("integer"), expression(), integers()});
      default:
        return value_schema(field, required);
    }
  }

  Value container(const Field& field, Requires required) {
    Value schema = typed(field.type == Type::list ? "array" : "object");
    if (!field.record) return schema;
    if (field.type == Type::list)
      schema.set("items", element_schema(*field.record, Requires::all));
    else if (field.map_of)
      schema.set("additionalProperties", element_schema(*field.record, required));
    else
      schema = schema_of(*field.record, required);
    return schema;
  }

  /// Returns the schema of an element of a list, or of a value of a mapping with free keys. If the record is shared and
  /// has no definition yet, writes its definition.
  Value element_schema(const Record& record, Requires required) {
    const auto shared = rules_.shared.find(record.name);
    if (shared == rules_.shared.end()) return schema_of(record, required);
    if (defined_.insert(record.name).second) {
      Value schema = with_variants(schema_of(record, Requires::all), shared->second.variants);
      if (const Field* const alone = find_field(record.fields, shared->second.alone))
        schema = any_of({value_schema(*alone, Requires::all), std::move(schema)});
      definitions_.set(record.name, std::move(schema));
    }
    return object({{"$ref", "#/definitions/" + record.name}});
  }

  /// Adds the variants to the schema. Each variant becomes a condition on the values of some keys (`if`), and the
  /// schema of mappings that meet the condition (`then`). Two variants may use the same key with different meanings.
  /// Therefore the keys of a variant are described in its `then`. Only the keys that select a variant are described
  /// outside of the conditions.
  Value with_variants(Value schema, const std::vector<SchemaVariant>& variants) {
    if (variants.empty()) return schema;
    Value properties = Value::make_map();
    List rules, any;
    for (const SchemaVariant& variant : variants) {
      const std::string& name = variant.when.front().first;
      if (!properties.find(name)) {
        properties.set(name, *schema.find("properties")->find(name));
        any.push_back(object({{"required", list({name})}}));
      }
      rules.push_back(
          object({{"if", condition_of(variant)},
                  {"then", schema_of(variant.record, Requires::all, variant.with_expressions)}}));
    }
    schema.set("properties", std::move(properties));
    schema.set("allOf", list_from(std::move(rules)));
    if (any.size() > 1) schema.set("anyOf", list_from(std::move(any)));
    return schema;
  }

  const SchemaRules& rules_;
  Value definitions_ = Value::make_map();
  std::set<std::string> defined_;
};

}  // namespace

std::string json_schema(const Record& record, const std::string& title, std::string_view kind,
                        const SchemaRules& rules) {
  SchemaWriter writer(rules);
  Value schema = object({{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", title}});
  Value whole = rules.may_have_base ? writer.with_base(record, kind)
                                    : writer.document(record, kind, Requires::all);
  for (Value::Entry& entry : whole.entries()) schema.set(entry.key, std::move(entry.value));
  if (!writer.definitions().entries().empty()) schema.set("definitions", writer.definitions());
  return to_json(schema);
}

}  // namespace sluice
