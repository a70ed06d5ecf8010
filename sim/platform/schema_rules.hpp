// Two rules of a platform's JSON Schema that are not in the platform's record. A platform may only
// change keys of another platform. And every memory of a device needs a name, except the first.
#pragma once

#include "document/schema.hpp"

namespace sluice {

SchemaRules platform_schema_rules();

}  // namespace sluice
