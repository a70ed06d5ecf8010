// Rules of a model's JSON Schema, in addition to the rules in the model's record. They name the keys that may stand
// next to the type of a layer, in a repetition, and in the use of a block.
#pragma once

#include "document/schema.hpp"

namespace sluice {

SchemaRules model_schema_rules();

}  // namespace sluice
