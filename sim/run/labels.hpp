// A plan's tables as a trace's labels.
#pragma once

#include "plan/plan.hpp"
#include "trace/labels.hpp"

namespace sluice {

Labels labels_of(const Plan& plan);

}  // namespace sluice
