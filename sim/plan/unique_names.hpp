// The names of the actions of one section: is one given twice? Most are made by the formula, and
// are compared without being made. Internal to the check of a plan's structure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/large_pages.hpp"
#include "plan/names.hpp"
#include "plan/plan.hpp"

namespace sluice {

class UniqueNames {
 public:
  /// Enters its name; false: it is there already. The action must outlive this.
  bool add(const Action& action);

 private:
  bool add(const FormulaName& name);
  /// Where it is, or could be. Names whose numbers follow each other stand side by side.
  std::size_t place_of(const FormulaName& name) const;
  void grow();
  bool is_free(std::size_t place) const { return formulas_[place] == free_; }

  static constexpr FormulaName free_{ActionKind::forward, -2, -2};  ///< no name
  LargeVector<FormulaName> formulas_;  ///< a power of two of places, at most half full
  std::size_t count_ = 0;
  Names others_;
};

}  // namespace sluice
