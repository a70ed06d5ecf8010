// What a report says of a plan whose fates `optimal` chose.
#pragma once

#include <cstdint>
#include <string>

#include "fates/strategy.hpp"

namespace sluice {

/// "budget": bytes that were searched within; the greatest number there is: "unlimited".
Fact budget_fact(std::int64_t budget);

/// "gap": the part of these seconds by which a lower bound is less.
Fact gap_fact(double seconds, double bound, bool proven = false);

/// Adds a fact for each stage, unless there are very many: what it makes, what bringing that back
/// costs either way, and what was chosen.
void explain(const Chain& chain, FateChoice& choice);

}  // namespace sluice
