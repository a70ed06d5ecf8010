// Two rules of a platform's JSON Schema that the record of a platform does not express. First, a platform may have
// another platform as its base, and then gives only the keys that differ. Second, every memory of a device except the
// first needs a name.
#pragma once

#include "document/schema.hpp"

namespace sluice {

SchemaRules platform_schema_rules();

}  // namespace sluice
