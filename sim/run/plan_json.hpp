// A plan's facts, and why a question is infeasible, as JSON: for --json and Python.
#pragma once

#include <vector>

#include "base/error.hpp"
#include "document/value.hpp"
#include "plan/fact.hpp"

namespace sluice {

/// {name: value}, or {name: {of: value}}; those of replicas in {"replicas": {device: {…}}}. A
/// number is a number, whose unit its name says, and a list is a list.
Value json_facts(const std::vector<Fact>& facts);

/// message, pool, needed_bytes, available_bytes, by_class, time_s, waiters (stream, action, and
/// either awaits or pool, bytes and tensors); null where it is not known.
Value json_shortage(const Infeasible& infeasible);

}  // namespace sluice
