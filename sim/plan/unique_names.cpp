#include "plan/unique_names.hpp"

#include <algorithm>
#include <optional>

namespace sluice {

bool UniqueNames::add(const Action& action) {
  if (action.name.empty())
    return add({action.kind, std::max(-1, action.stage), std::max(-1, action.micro_batch)});
  const std::optional<FormulaName> formula = formula_of(action.name);
  return formula ? add(*formula) : others_.add(action.name);
}

bool UniqueNames::add(const FormulaName& name) {
  if (2 * (count_ + 1) > formulas_.size()) grow();
  const std::size_t place = place_of(name);
  if (!is_free(place)) return false;
  formulas_[place] = name;
  ++count_;
  return true;
}

std::size_t UniqueNames::place_of(const FormulaName& name) const {
  constexpr std::uint32_t neighbours = 8;
  const auto number = static_cast<std::uint32_t>(name.micro_batch);
  const auto stage = static_cast<std::uint32_t>(name.stage);
  std::uint64_t hash = std::uint64_t{stage} << 32 | number / neighbours;
  hash = (hash * 31 + static_cast<std::uint64_t>(name.kind)) * 0x9E3779B97F4A7C15U;
  const std::size_t mask = formulas_.size() - 1;
  for (std::size_t at = (hash >> 32) * neighbours + number % neighbours;; ++at)
    if (is_free(at & mask) || formulas_[at & mask] == name) return at & mask;
}

void UniqueNames::grow() {
  LargeVector<FormulaName> old(formulas_.empty() ? 16 : 2 * formulas_.size(), free_);
  old.swap(formulas_);
  for (const FormulaName& name : old)
    if (name != free_) formulas_[place_of(name)] = name;
}

}  // namespace sluice
