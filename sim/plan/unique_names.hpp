// Finds a name that two actions of one section share. The check of a plan's structure uses this class. Most names
// consist of stage, kind and micro-batch. The class compares these three parts without making the text of the name.
#pragma once

#include "plan/formula_numbers.hpp"
#include "plan/names.hpp"
#include "plan/plan.hpp"

namespace sluice {

class UniqueNames {
 public:
  /// Enters the action's name. The action must outlive this object. Returns false if the name exists already.
  bool add(const Action& action);

 private:
  FormulaNumbers formulas_;
  Names others_;
};

}  // namespace sluice
