// Rules of a model's JSON Schema that the model's record cannot express. They say which keys a layer of each type, a
// repetition, and a use of a block may have.
#pragma once

#include "document/schema.hpp"

namespace sluice {

SchemaRules model_schema_rules();

}  // namespace sluice
