#include "run/plan_json.hpp"

#include <cmath>

namespace sluice {

namespace {

constexpr double exact_integers = 9007199254740992.0;  // 2^53

Value json_of(const std::string& text) {
  return Value::make(text);
}

Value json_of(const Fact::List& list) {
  Value made = Value::make_list();
  for (const std::string& element : list) made.items().push_back(Value::make(element));
  return made;
}

/// A whole number becomes an integer if it is a number of bytes or has no unit. Any other number stays a floating-point
/// number.
Value json_of(const Fact::Number& number) {
  if (!std::isfinite(number.value)) return Value::make_null();
  const bool counts = number.unit.empty() || number.unit == "byte";
  if (counts && number.value == std::floor(number.value) &&
      std::abs(number.value) <= exact_integers)
    return Value::make(static_cast<std::int64_t>(number.value));
  return Value::make(number.value);
}

/// Returns the mapping under the given key, and adds the mapping if there is none. The same key may be looked up
/// 100,000 times in a row, because a plan may have a fact with this key for each of 100,000 groups. So the function
/// first compares `key` with the last key of the map.
Value& mapping_at(Value& map, const std::string& key) {
  if (map.entries().empty() || map.entries().back().key != key) {
    if (!map.find(key) || !map.find(key)->is_map()) map.set(key, Value::make_map());
    return *map.find(key);
  }
  Value& last = map.entries().back().value;
  if (!last.is_map()) last = Value::make_map();
  return last;
}

Value text_or_null(const std::string& text) {
  return text.empty() ? Value::make_null() : Value::make(text);
}

Value count_or_null(const std::optional<std::int64_t>& count) {
  return count ? Value::make(*count) : Value::make_null();
}

Value json_of(const Shortage::Waiter& waiter) {
  Value map = Value::make_map();
  map.set("stream", Value::make(waiter.stream));
  map.set("action", Value::make(waiter.action));
  map.set("awaits", text_or_null(waiter.awaits));
  map.set("pool", text_or_null(waiter.pool));
  map.set("bytes", waiter.pool.empty() ? Value::make_null() : Value::make(waiter.bytes));
  map.set("tensors", json_of(waiter.tensors));
  return map;
}

}  // namespace

Value json_facts(const std::vector<Fact>& facts) {
  Value root = Value::make_map();
  for (const Fact& fact : facts) {
    Value& map =
        fact.replica.empty() ? root : mapping_at(mapping_at(root, "replicas"), fact.replica);
    Value value = std::visit([](const auto& held) { return json_of(held); }, fact.value);
    if (fact.of.empty())
      map.set(fact.name, std::move(value));
    else
      mapping_at(map, fact.name).entries().push_back({fact.of, 0, 0, std::move(value)});
  }
  return root;
}

Value json_shortage(const Infeasible& infeasible) {
  const Shortage& shortage = infeasible.shortage;
  Value by_class = Value::make_map(), waiters = Value::make_list();
  for (const auto& [tensor_class, bytes] : shortage.by_class)
    by_class.set(tensor_class, Value::make(bytes));
  for (const Shortage::Waiter& waiter : shortage.waiters)
    waiters.items().push_back(json_of(waiter));
  Value map = Value::make_map();
  map.set("message", Value::make(std::string(infeasible.what())));
  map.set("pool", text_or_null(shortage.pool));
  map.set("needed_bytes", count_or_null(shortage.needed_bytes));
  map.set("available_bytes", count_or_null(shortage.available_bytes));
  map.set("by_class", std::move(by_class));
  map.set("time_s", shortage.time_s ? Value::make(*shortage.time_s) : Value::make_null());
  map.set("waiters", std::move(waiters));
  return map;
}

}  // namespace sluice
