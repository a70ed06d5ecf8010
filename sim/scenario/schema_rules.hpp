// The rules of a scenario's JSON Schema that the record of a scenario does not contain. These rules say which keys may
// be written next to the name of a policy, a cut, a strategy or a cost model.
#pragma once

#include "document/schema.hpp"

namespace sluice {

SchemaRules scenario_schema_rules();

}  // namespace sluice
