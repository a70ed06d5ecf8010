// Rules of a platform's JSON Schema, in addition to the rules in the platform's record: a platform may change the keys
// of another platform, and each memory of a device after the first needs a name.
#pragma once

#include "document/schema.hpp"

namespace sluice {

SchemaRules platform_schema_rules();

}  // namespace sluice
