// The rules of a model's JSON Schema that its record does not contain. These rules say which keys may be written next
// to the type of a layer, in a repetition, and in the use of a block.
#pragma once

#include "document/schema.hpp"

namespace sluice {

SchemaRules model_schema_rules();

}  // namespace sluice
