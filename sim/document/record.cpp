#include "document/record.hpp"

#include <system_error>

#include "base/letters.hpp"
#include "base/number_in.hpp"
#include "base/suggest.hpp"
#include "document/places.hpp"

namespace sluice {
namespace {

bool contains(const std::vector<std::string>& words, std::string_view word) {
  for (const std::string& known : words)
    if (known == word) return true;
  return false;
}

std::string quoted(const Value& value) {
  if (value.is_scalar()) return "'" + value.text().substr(0, 80) + "'";
  return value.is_map() ? "a mapping" : "a list";
}

std::string expected(const Field& field) {
  std::string text;
  switch (field.type) {
    case Type::boolean:
      text = "true or false";
      break;
    case Type::integer:
      text = "an integer";
      break;
    case Type::number:
    case Type::quantity:
      text = std::string(words_of(field.dimension)) + " like \"" +
             std::string(example_of(field.dimension)) + "\"";
      break;
    case Type::text:
      text = "a text";
      break;
    case Type::choice:
      return "one of: " + join(field.choices);
    case Type::mapping:
      text = "a mapping";
      if (!field.word_for.empty()) text += ", or a single word as its '" + field.word_for + "'";
      break;
    case Type::list:
      text = "a list";
      break;
    case Type::any:
      text = field.record ? "a mapping, a name, or a list of mappings and names" : "a value";
      break;
  }
  return field.choices.empty() ? text : text + ", or: " + join(field.choices);
}

/// Drops the full stop at the end of the text, and puts brackets around the text.
std::string in_brackets(std::string text) {
  if (!text.empty() && text.back() == '.') text.pop_back();
  return " (" + text + ")";
}

[[noreturn]] void refuse(const Field& field, const Value& value, const std::string& reason) {
  fail_at(value, quoted(value) + " for '" + field.name + "': " + reason);
}

[[noreturn]] void refuse_type(const Field& field, const Value& value) {
  std::string hint;
  if (value.is_scalar() && !field.choices.empty()) hint = did_you_mean(value.text(), field.choices);
  if (field.type == Type::boolean && value.text() == "1") hint = " (did you mean 'true'?)";
  if (field.type == Type::boolean && value.text() == "0") hint = " (did you mean 'false'?)";
  refuse(field, value, "expected " + expected(field) + hint);
}

/// Returns the boolean of a word: true, yes, on, false, no or off, in small or capital letters. For any other word,
/// returns no value.
std::optional<bool> switch_of(const std::string& written) {
  const std::string text = lower_case(written);
  if (text == "true" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "no" || text == "off") return false;
  return std::nullopt;
}

/// Returns the largest plausible quantity of this dimension. No machine has a greater quantity.
/// So a greater value in a document is a typing mistake.
double plausible(Dimension dimension) {
  switch (dimension) {
    case Dimension::bytes_per_s:
      return 1e18;
    case Dimension::flop_per_s:
      return 1e21;
    case Dimension::seconds:
      return 1e9;
    case Dimension::watts:
    case Dimension::joules:
      return 1e12;
    case Dimension::none:
    case Dimension::bytes:
    case Dimension::flop:
      break;
  }
  return std::numeric_limits<double>::infinity();
}

void check_range(const Field& field, const Value& value, double number) {
  const auto shown = [&](double limit) {
    return field.type == Type::quantity ? format_quantity(limit, field.dimension) : exact(limit);
  };
  const bool low = field.minimum_excluded ? !(number > field.minimum) : !(number >= field.minimum);
  if (low)
    refuse(field, value,
           std::string("it must be ") + (field.minimum_excluded ? "more than " : "at least ") +
               shown(field.minimum));
  if (!(number <= field.maximum))
    refuse(field, value, "it must be at most " + shown(field.maximum));
  if (field.type == Type::quantity && number > plausible(field.dimension))
    refuse(field, value,
           "it must be at most " + shown(plausible(field.dimension)) +
               ": no machine has more. Expected " + expected(field));
  constexpr double least_share = 1e-9;  // A time divided by a smaller share could become infinite.
  const bool share = field.type == Type::number && field.minimum_excluded && field.maximum == 1;
  if (share && number < least_share)
    refuse(field, value, "it must be at least " + shown(least_share));
}

double number_of(const Field& field, const Value& value) {
  if (value.kind() == Value::Kind::integer || value.kind() == Value::Kind::number)
    return value.as_number();
  const std::string& text = value.text();
  if (value.kind() != Value::Kind::string || text.empty() || text.back() != '%')
    refuse_type(field, value);
  return located(value, [&] { return parse_quantity(text, Dimension::none, field.name); });
}

double quantity_of(const Field& field, const Value& value) {
  const Value::Kind kind = value.kind();
  if (kind == Value::Kind::integer || kind == Value::Kind::number)
    refuse(field, value,
           (value.as_number() < 0 ? "the number may not be negative, expected "
                                  : "the unit is missing, expected ") +
               expected(field));
  if (kind != Value::Kind::string) refuse_type(field, value);
  return located(value, [&] { return parse_quantity(value.text(), field.dimension, field.name); });
}

void check_value(const Field& field, const Value& value) {
  using Kind = Value::Kind;
  const Kind kind = value.kind();
  if (field.type == Type::any) return;
  if (value.is_scalar() && kind != Kind::null && contains(field.choices, value.text())) return;
  bool fits = true;
  switch (field.type) {
    case Type::boolean:
      fits = kind == Kind::boolean || (kind == Kind::string && switch_of(value.text()));
      break;
    case Type::integer:
      fits = kind == Kind::integer;
      if (fits) check_range(field, value, value.as_number());
      break;
    case Type::number:
      check_range(field, value, number_of(field, value));
      break;
    case Type::quantity:
      check_range(field, value, quantity_of(field, value));
      break;
    case Type::text:
      fits = value.is_scalar() && kind != Kind::null;
      break;
    case Type::mapping:
      fits = value.is_map();
      break;
    case Type::list:
      fits = value.is_list();
      break;
    case Type::choice:  // if the value is one of the choices, the function has returned above
      fits = false;
      break;
    case Type::any:
      break;
  }
  if (!fits) refuse_type(field, value);
}

}  // namespace

const Record& record_of(const Record& parent, std::string_view field) {
  for (const Field& candidate : parent.fields)
    if (candidate.name == field && candidate.record != nullptr) return *candidate.record;
  throw InternalError("no record of '" + std::string(field) + "' in " + parent.name);
}

void fail_at(const Value& where, const std::string& message) {
  throw InputError(where.position(), message);
}

Reader::Reader(const Value& map, const Record& record, std::string word)
    : map_(map), record_(record), word_(word.empty() ? record.name : std::move(word)) {
  if (!map.is_map())
    fail_at(map, "expected a mapping for " + word_ + ", got " +
                     (map.is_list() ? "a list" : quoted(map)));
  check_keys();
  for (const Field& field : record.fields) {
    if (const Value* value = map.find(field.name))
      check_value(field, *value);
    else if (!field.optional && !field.default_text)
      fail_at(map, "the key '" + field.name + "' is missing in " + word_ +
                       in_brackets(field.summary) + "; expected " + expected(field));
  }
}

void Reader::check_keys() const {
  if (record_.open) return;
  std::vector<std::string> known;
  for (const Field& field : record_.fields) known.push_back(field.name);
  for (const Value::Entry& entry : map_.entries())
    if (!contains(known, entry.key))
      throw InputError(entry.position(),
                       "unknown key '" + entry.key + "' in " + word_ +
                           did_you_mean_at(entry.key, known, places_of(entry.key, map_, &record_)) +
                           "; allowed: " + (known.empty() ? "none" : join(known)));
}

const Field& Reader::field(std::string_view name) const {
  for (const Field& field : record_.fields)
    if (field.name == name) return field;
  throw InternalError("the record '" + record_.name + "' has no field '" + std::string(name) + "'");
}

bool Reader::has(std::string_view name) const {
  return map_.find(field(name).name) != nullptr;
}

const Value* Reader::value(std::string_view name) const {
  return map_.find(field(name).name);
}

std::string Reader::scalar(std::string_view name) const {
  if (const Value* value = this->value(name)) return value->text();
  const Field& field = this->field(name);
  if (field.default_text) return *field.default_text;
  throw InternalError("'" + field.name + "' in " + word_ + " has neither a value nor a default");
}

bool Reader::boolean(std::string_view name) const {
  return switch_of(scalar(name)).value_or(false);
}

std::int64_t Reader::integer(std::string_view name) const {
  if (const Value* value = this->value(name); value && value->kind() == Value::Kind::integer)
    return value->as_integer();
  const std::string text = scalar(name);
  if (const std::optional<std::int64_t> result = number_in<std::int64_t>(text)) return *result;
  throw InternalError("'" + text + "' for '" + std::string(name) + "' is not an integer");
}

double Reader::number(std::string_view name) const {
  if (const Value* value = this->value(name); value && value->kind() != Value::Kind::string)
    return value->as_number();
  return parse_quantity(scalar(name), Dimension::none, name);
}

double Reader::quantity(std::string_view name) const {
  return parse_quantity(scalar(name), field(name).dimension, name);
}

std::int64_t Reader::bytes(std::string_view name) const {
  return parse_bytes(scalar(name), name);
}

std::string Reader::text(std::string_view name) const {
  return scalar(name);
}

bool Reader::is_word(std::string_view name, std::string_view word) const {
  return contains(field(name).choices, word) && scalar(name) == word;
}

void Reader::fail(std::string_view name, const std::string& message) const {
  const Value* value = this->value(name);
  fail_at(value ? *value : map_, message);
}

}  // namespace sluice
