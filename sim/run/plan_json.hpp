// Converts two things to JSON: the facts of a plan, and the reason why a question is infeasible.
// The option --json and the Python package use these functions.
#pragma once

#include <vector>

#include "base/error.hpp"
#include "document/value.hpp"
#include "plan/fact.hpp"

namespace sluice {

/// Returns the facts as {name: value}. Facts about several things are in {name: {of: value}}. `of` is the name of a
/// thing. The facts of replicas are in {"replicas": {device: {…}}}. A number stays a number, and the unit of the number
/// is part of the name. A list stays a list.
Value json_facts(const std::vector<Fact>& facts);

/// Returns a mapping with the keys message, pool, needed_bytes, available_bytes, by_class, time_s and waiters. Each
/// waiter has the keys stream and action. A waiter that waits for an action also has the key awaits. A waiter that
/// waits for memory also has the keys pool, bytes and tensors. An unknown value is null.
Value json_shortage(const Infeasible& infeasible);

}  // namespace sluice
