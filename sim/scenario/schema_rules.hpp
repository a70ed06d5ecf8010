// The rules of a scenario's JSON Schema that the record of a scenario does not contain. A policy, a cut, a strategy or
// a cost model allows certain keys next to its name. These rules list the keys.
#pragma once

#include "document/schema.hpp"

namespace sluice {

SchemaRules scenario_schema_rules();

}  // namespace sluice
