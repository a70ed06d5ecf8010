#include "document/choice.hpp"

namespace sluice {

bool is_open_choice(const Value& mapping, const std::string& mapping_name, const std::string& key) {
  const Value* name = mapping.find(key);
  if (!name || !name->is_scalar() || name->text() != "auto") return false;
  for (const Value::Entry& entry : mapping.entries())
    if (entry.key != key)
      fail_at(entry.value, "'" + entry.key + "' in " + mapping_name + " cannot be given with '" +
                               key + ": auto': remove this key, or name a " + key +
                               " instead of auto");
  return true;
}

}  // namespace sluice
