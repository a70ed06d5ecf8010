// Makes the labels of a trace from the tables of a plan.
#pragma once

#include "plan/plan.hpp"
#include "trace/labels.hpp"

namespace sluice {

Labels labels_of(const Plan& plan);

}  // namespace sluice
