// The rules of a platform's JSON Schema that its record does not contain: a platform may change the keys of another
// platform, and each memory of a device after the first needs a name.
#pragma once

#include "document/schema.hpp"

namespace sluice {

SchemaRules platform_schema_rules();

}  // namespace sluice
