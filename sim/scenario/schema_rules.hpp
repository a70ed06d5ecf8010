// What the JSON Schema of a scenario says beyond its record: which keys may be written beside the
// name of a policy, a cut, a strategy or a cost model.
#pragma once

#include "document/schema.hpp"

namespace sluice {

SchemaRules scenario_schema_rules();

}  // namespace sluice
