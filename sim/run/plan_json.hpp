// A plan's facts, and the reason why a question is infeasible, as JSON for --json and Python.
#pragma once

#include <vector>

#include "base/error.hpp"
#include "document/value.hpp"
#include "plan/fact.hpp"

namespace sluice {

/// {name: value}, or {name: {of: value}}; the facts of replicas are in {"replicas": {device: {…}}}.
/// A number becomes a number, whose unit is part of its name, and a list becomes a list.
Value json_facts(const std::vector<Fact>& facts);

/// The keys message, pool, needed_bytes, available_bytes, by_class, time_s and waiters (each with
/// stream, action, and either awaits or pool, bytes and tensors); null where a value is not known.
Value json_shortage(const Infeasible& infeasible);

}  // namespace sluice
