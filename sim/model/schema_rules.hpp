// What the JSON Schema of a model says beyond its record: which keys stand beside the type of a
// layer, in a repetition and in the use of a block.
#pragma once

#include "document/schema.hpp"

namespace sluice {

SchemaRules model_schema_rules();

}  // namespace sluice
