#include "plan/unique_names.hpp"

#include <algorithm>
#include <optional>

namespace sluice {

bool UniqueNames::add(const Action& action) {
  if (action.name.empty())
    return formulas_.add(
        {action.kind, std::max(-1, action.stage), std::max(-1, action.micro_batch)}, 0);
  const std::optional<FormulaName> formula = formula_of(action.name);
  return formula ? formulas_.add(*formula, 0) : others_.add(action.name);
}

}  // namespace sluice
