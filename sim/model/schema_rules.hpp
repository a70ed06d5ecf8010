// Rules of a model's JSON Schema that the model's record cannot express: which keys a layer of each type may have, a
// repetition, and a use of a block.
#pragma once

#include "document/schema.hpp"

namespace sluice {

SchemaRules model_schema_rules();

}  // namespace sluice
