// Converts a plan's facts to JSON, and the reason why a question is infeasible. --json and Python use this.
#pragma once

#include <vector>

#include "base/error.hpp"
#include "document/value.hpp"
#include "plan/fact.hpp"

namespace sluice {

/// Returns {name: value}, or {name: {of: value}}. The facts of replicas are in {"replicas": {device: {…}}}. A number
/// stays a number, whose unit is part of its name, and a list stays a list.
Value json_facts(const std::vector<Fact>& facts);

/// Returns the keys message, pool, needed_bytes, available_bytes, by_class, time_s and waiters. Each
/// waiter has stream, action, and either awaits or pool, bytes and tensors. An unknown value is null.
Value json_shortage(const Infeasible& infeasible);

}  // namespace sluice
