#include "plan/fact.hpp"

#include "base/quantity.hpp"
#include "base/suggest.hpp"

namespace sluice {

std::string Fact::shown() const {
  if (text()) return *text();
  if (list()) return join(*list());
  const auto& [value, unit] = *number();
  if (unit == "s") return format_quantity(value, Dimension::seconds);
  if (unit == "byte") return format_quantity(value, Dimension::bytes);
  return exact(value) + (unit.empty() || unit == "1" ? "" : " " + unit);
}

const Fact* find_fact(const std::vector<Fact>& facts, const std::string& name,
                      const std::string& of) {
  for (const Fact& fact : facts)
    if (fact.name == name && fact.of == of && fact.replica.empty()) return &fact;
  return nullptr;
}

}  // namespace sluice
