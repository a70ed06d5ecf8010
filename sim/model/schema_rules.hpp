// Rules of a model's JSON Schema that the model's record cannot express. They say which keys may stand in a layer of
// each type, in a repetition, and in a use of a block.
#pragma once

#include "document/schema.hpp"

namespace sluice {

SchemaRules model_schema_rules();

}  // namespace sluice
