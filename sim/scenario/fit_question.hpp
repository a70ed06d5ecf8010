// The question whether a scenario's plan fits, without the question how long its run takes.
#pragma once

#include "policy/settle/settle.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

/// Says whether make_plan() finds a plan. Throws InputError.
FitQuestion ask_whether_fits(const Scenario& scenario);

}  // namespace sluice
