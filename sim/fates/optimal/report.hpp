// The facts that a report gives about a plan whose fates `optimal` chose.
#pragma once

#include <cstdint>
#include <string>

#include "fates/strategy.hpp"

namespace sluice {

/// "budget_bytes": the bytes within which the search stayed. If every number of bytes was allowed, the fact says
/// "unlimited".
Fact budget_fact(std::int64_t budget);

/// "gap": the gap from these seconds to a lower bound (base/gap.hpp).
Fact gap_fact(double seconds, double bound);

/// Adds the facts of each stage, unless there are very many stages. They are its fate, the bytes that the stage makes,
/// and the cost of recomputing or of loading them.
void explain(const Chain& chain, FateChoice& choice);

}  // namespace sluice
