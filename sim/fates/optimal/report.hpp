// What a report says of a plan whose fates `optimal` chose.
#pragma once

#include <cstdint>
#include <string>

#include "fates/strategy.hpp"

namespace sluice {

/// "budget_bytes": that were searched within; the greatest number there is: "unlimited".
Fact budget_fact(std::int64_t budget);

/// "gap": of these seconds to a lower bound (base/gap.hpp).
Fact gap_fact(double seconds, double bound);

/// Adds facts of each stage, unless there are very many: what was chosen, what it makes, and what
/// bringing that back costs either way.
void explain(const Chain& chain, FateChoice& choice);

}  // namespace sluice
