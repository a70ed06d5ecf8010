// Finds places in the document of a scenario, to which messages of errors point.
#pragma once

#include "cost/memory_seconds.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

/// Returns the value to which an error message points: the value of `key` in the mapping. If there is no such key,
/// returns the mapping. If there is no such mapping, returns the whole document.
const Value& place_of(const Value& document, std::string_view mapping, std::string_view key);

/// Throws InputError with the message of `missing`. Its position is the memory in the platform of the scenario.
[[noreturn]] void fail_at_memory(const Scenario& scenario, const MissingRate& missing);

}  // namespace sluice
