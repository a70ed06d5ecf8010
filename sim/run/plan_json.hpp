// Converts two things to JSON: the facts of a plan, and the reason why a question is infeasible.
// The option --json and the Python package use these functions.
#pragma once

#include <vector>

#include "base/error.hpp"
#include "document/value.hpp"
#include "plan/fact.hpp"

namespace sluice {

/// Returns the facts as a mapping {name: value}. If each of several facts with the same name is about a thing of its
/// own, such as a group, they are in a mapping {name: {thing: value}}. The facts of replicas are in {"replicas":
/// {device: {…}}}. A number stays a number, and the unit of the number is part of the name. A list stays a list.
Value json_facts(const std::vector<Fact>& facts);

/// Returns a mapping with the keys message, pool, needed_bytes, available_bytes, by_class, time_s and waiters. Each
/// waiter has the keys stream, action, awaits, pool, bytes and tensors. `awaits` is the action for which it waits.
/// `pool`, `bytes` and `tensors` say for what memory it waits. A value that is unknown or does not apply is null.
Value json_shortage(const Infeasible& infeasible);

}  // namespace sluice
