// Converts a plan's facts and the reason why a question is infeasible to JSON. --json and Python use this.
#pragma once

#include <vector>

#include "base/error.hpp"
#include "document/value.hpp"
#include "plan/fact.hpp"

namespace sluice {

/// Returns {name: value}, or {name: {of: value}}. The facts of replicas are in {"replicas": {device: {…}}}. A number
/// stays a number, and its unit is part of the name. A list stays a list.
Value json_facts(const std::vector<Fact>& facts);

/// Returns a mapping with the keys message, pool, needed_bytes, available_bytes, by_class, time_s and waiters. Each
/// waiter has stream and action. If it waits for an action, it also has awaits. Otherwise it has pool, bytes and
/// tensors. An unknown value is null.
Value json_shortage(const Infeasible& infeasible);

}  // namespace sluice
