// Finds out whether two actions of a section have the same name, for the check of a plan's structure. Most names
// consist of stage, kind and micro-batch. This class compares these three parts, and does not make the texts of such
// names.
#pragma once

#include "plan/formula_numbers.hpp"
#include "plan/names.hpp"
#include "plan/plan.hpp"

namespace sluice {

class UniqueNames {
 public:
  /// Adds the name of an action, which must live longer than this object. Returns false if the name exists already.
  bool add(const Action& action);

 private:
  FormulaNumbers formulas_;
  Names others_;
};

}  // namespace sluice
