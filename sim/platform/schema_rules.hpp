// Two rules of a platform's JSON Schema that are not in the platform's record. A platform may have a base: another
// platform whose keys it changes. Every memory of a device except the first needs a name.
#pragma once

#include "document/schema.hpp"

namespace sluice {

SchemaRules platform_schema_rules();

}  // namespace sluice
