#include "trace/summary_json.hpp"

#include <unordered_map>

#include "document/object.hpp"

namespace sluice {
namespace {

bool counts_things(const std::string& unit) {
  return unit == "byte" || unit == "sample" || unit == "FLOP";
}

Value number_of(const Summary::Metric& metric, double number) {
  return counts_things(metric.unit) ? json_count(number) : json_number(number);
}

/// Builds nested maps, with one level per word of the key. A map may have 100,000 entries, for example one for each
/// stage. A search for an entry would then be slow, so the index of each entry is stored.
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
  std::unordered_map<std::string, std::size_t> places_;  ///< the index of each key in its map
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

Value json_metrics(const Summary& summary) {
  Value map = Value::make_map();
  for (const Summary::Metric& metric : summary.metrics) map.set(metric.name, value_of(metric));
  return map;
}

Value json_units(const Summary& summary) {
  Value map = Value::make_map();
  for (const Summary::Metric& metric : summary.metrics)
    map.set(metric.name, text_or_null(metric.unit).take());
  return map;
}

}  // namespace sluice
