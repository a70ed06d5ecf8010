// Rules for the JSON Schema of scenarios, in addition to the record of a scenario. They say which keys may stand next
// to the name of a policy, a cut, a strategy for fates or a cost model.
#pragma once

#include "document/schema.hpp"

namespace sluice {

SchemaRules scenario_schema_rules();

}  // namespace sluice
