// Two rules of a platform's JSON Schema that the record of a platform does not express. First, a platform may have a
// base: another platform, some of whose keys it changes. Second, every memory of a device except the first needs a
// name.
#pragma once

#include "document/schema.hpp"

namespace sluice {

SchemaRules platform_schema_rules();

}  // namespace sluice
