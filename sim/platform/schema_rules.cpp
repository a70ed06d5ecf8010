#include "platform/schema_rules.hpp"

#include "platform/device_memories.hpp"

namespace sluice {

SchemaRules platform_schema_rules() {
  return {.may_have_base = true, .further_key = {{device_memory_record().name, "name"}}};
}

}  // namespace sluice
