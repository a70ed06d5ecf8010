// Finds a name that two actions of one section share, for the check of a plan's structure. Most names consist of stage,
// kind and micro-batch, and are compared without being written out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/large_pages.hpp"
#include "plan/names.hpp"
#include "plan/plan.hpp"

namespace sluice {

class UniqueNames {
 public:
  /// Enters the action's name. The action must outlive this object. Returns false if the name exists already.
  bool add(const Action& action);

 private:
  bool add(const FormulaName& name);
  /// Returns the place of the table that holds the name, or else the free place for it. Names with consecutive numbers
  /// get neighbouring places.
  std::size_t place_of(const FormulaName& name) const;
  void grow();
  bool is_free(std::size_t place) const { return formulas_[place] == free_; }

  static constexpr FormulaName free_{ActionKind::forward, -2, -2};  ///< no name
  LargeVector<FormulaName> formulas_;  ///< a power of two of slots, at most half used
  std::size_t count_ = 0;
  Names others_;
};

}  // namespace sluice
