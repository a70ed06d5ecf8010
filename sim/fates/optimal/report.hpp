// Makes the facts that a report gives about a plan whose fates the strategy `optimal` chose.
#pragma once

#include <cstdint>
#include <string>

#include "fates/strategy.hpp"

namespace sluice {

/// Returns the fact "budget_bytes": the bytes that the search could use, or "unlimited" if it had no limit.
Fact budget_fact(std::int64_t budget);

/// Returns the fact "gap": the gap between the seconds and a lower bound (base/gap.hpp).
Fact gap_fact(double seconds, double bound);

/// Adds facts about each stage, unless there are very many stages. The facts are the fate of the stage, the bytes that
/// the stage makes, and the seconds to recompute or to load these bytes.
void explain(const Chain& chain, FateChoice& choice);

}  // namespace sluice
