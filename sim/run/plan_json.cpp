#include "run/plan_json.hpp"

#include "document/object.hpp"

namespace sluice {

namespace {

Value json_of(const std::string& text) {
  return json_text(text);
}

Value json_of(const Fact::List& list) {
  return list_of(list, json_text);
}

/// A whole number becomes an integer if it is a number of bytes or has no unit. Any other number stays a floating-point
/// number.
Value json_of(const Fact::Number& number) {
  const bool counts = number.unit.empty() || number.unit == "byte";
  return counts ? json_count(number.value) : json_number(number.value);
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

Value json_of(const Shortage::Waiter& waiter) {
  return object({{"stream", waiter.stream},
                 {"action", waiter.action},
                 {"awaits", text_or_null(waiter.awaits)},
                 {"pool", text_or_null(waiter.pool)},
                 {"bytes", waiter.pool.empty() ? Item(nullptr) : Item(waiter.bytes)},
                 {"tensors", json_of(waiter.tensors)}});
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
  Value by_class = Value::make_map();
  for (const auto& [tensor_class, bytes] : shortage.by_class)
    by_class.set(tensor_class, Value::make(bytes));
  return object(
      {{"message", infeasible.what()},
       {"pool", text_or_null(shortage.pool)},
       {"needed_bytes", shortage.needed_bytes},
       {"available_bytes", shortage.available_bytes},
       {"by_class", std::move(by_class)},
       {"time_s", shortage.time_s},
       {"waiters", list_of(shortage.waiters, [](const auto& one) { return json_of(one); })}});
}

}  // namespace sluice
