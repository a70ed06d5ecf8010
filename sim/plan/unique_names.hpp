// Finds a name that two actions of one section share. Most names are made by the formula, and are
// compared without being written out. Internal to the check of a plan's structure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/large_pages.hpp"
#include "plan/names.hpp"
#include "plan/plan.hpp"

namespace sluice {

class UniqueNames {
 public:
  /// Enters the action's name; returns false when it exists already. The action must outlive this object.
  bool add(const Action& action);

 private:
  bool add(const FormulaName& name);
  /// Returns the slot that holds the name, or else the free slot for it. Names with consecutive
  /// numbers get neighbouring slots.
  std::size_t place_of(const FormulaName& name) const;
  void grow();
  bool is_free(std::size_t place) const { return formulas_[place] == free_; }

  static constexpr FormulaName free_{ActionKind::forward, -2, -2};  ///< no name
  LargeVector<FormulaName> formulas_;  ///< a power of two of slots, at most half used
  std::size_t count_ = 0;
  Names others_;
};

}  // namespace sluice
