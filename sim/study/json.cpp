#include "study/json.hpp"

#include <cmath>
#include <unordered_map>

#include "base/suggest.hpp"

namespace sluice {
namespace {

constexpr double exact_integers = 9007199254740992.0;  // 2^53

bool counts_things(const std::string& unit) {
  return unit == "byte" || unit == "sample" || unit == "FLOP";
}

Value number_of(const Summary::Metric& metric, double number) {
  return counts_things(metric.unit) ? json_count(number) : json_number(number);
}

/// Maps in maps, one a word of the key. There may be one of 100,000 stages: none is searched for.
class Nest {
 public:
  void put(const std::vector<std::string>& key, Value value) {
    Value* at = &root_;
    std::string path;
    for (const std::string& word : key) {
      path += word + '\0';
      const auto [place, fresh] = places_.emplace(path, at->entries().size());
      if (fresh) at->entries().push_back({word, 0, 0, Value::make_map()});
      at = &at->entries()[place->second].value;
    }
    *at = std::move(value);
  }
  Value take() { return std::move(root_); }

 private:
  Value root_ = Value::make_map();
  std::unordered_map<std::string, std::size_t> places_;  ///< in the map that each stands in
};

Value value_of(const Summary::Metric& metric) {
  const SummaryValue& value = metric.value;
  switch (value.kind) {
    case SummaryValue::Kind::number:
      return number_of(metric, value.number);
    case SummaryValue::Kind::text:
      return json_text(value.text);
    case SummaryValue::Kind::keyed:
      break;
  }
  Nest nest;
  for (const SummaryValue::Keyed& keyed : value.keyed)
    nest.put(keyed.key, number_of(metric, keyed.number));
  return nest.take();
}

}  // namespace

Value json_number(double number) {
  return std::isfinite(number) ? Value::make(number) : Value::make_null();
}

Value json_count(double number) {
  const bool whole = number == std::floor(number) && std::abs(number) <= exact_integers;
  return whole ? Value::make(static_cast<std::int64_t>(number)) : json_number(number);
}

Value json_text(std::string_view text) {
  return Value::make(std::string(text));
}

Value json_metrics(const Summary& summary) {
  Value map = Value::make_map();
  for (const Summary::Metric& metric : summary.metrics) map.set(metric.name, value_of(metric));
  return map;
}

Value json_units(const Summary& summary) {
  Value map = Value::make_map();
  for (const Summary::Metric& metric : summary.metrics)
    map.set(metric.name, metric.unit.empty() ? Value::make_null() : json_text(metric.unit));
  return map;
}

std::string type_words(const Field& field) {
  switch (field.type) {
    case Type::boolean:
      return "true or false";
    case Type::integer:
      return "integer";
    case Type::number:
      return "number or percentage";
    case Type::quantity:
      return std::string(words_of(field.dimension)) + ", like " +
             std::string(example_of(field.dimension));
    case Type::text:
      return "text";
    case Type::choice:
      return "one of " + join(field.choices);
    case Type::mapping:
      return "mapping";
    case Type::list:
      return "list";
    case Type::any:
      return "any value";
  }
  return "any value";
}

Value json_field(const Field& field) {
  Value map = Value::make_map();
  map.set("name", json_text(field.name));
  map.set("type", json_text(type_words(field)));
  const bool required = !field.optional && !field.default_text;
  map.set("required", Value::make(required));
  map.set("default", field.default_text ? json_text(*field.default_text) : Value::make_null());
  Value choices = Value::make_list();
  for (const std::string& choice : field.choices) choices.items().push_back(json_text(choice));
  map.set("choices", std::move(choices));
  map.set("summary", json_text(field.summary));
  return map;
}

}  // namespace sluice
