// Makes the facts with which a report describes the fates that the strategy `optimal` chose.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fates/strategy.hpp"

namespace sluice {

/// Returns the fact "budget_bytes": the bytes that the search could use, or "unlimited".
Fact budget_fact(std::int64_t budget);

/// Returns the fact "gap": the gap between the seconds and a lower bound (base/gap.hpp). The fact is -1 if the seconds are
/// less than the bound. This may be so for a plan that is only an intermediate step.
Fact gap_fact(double seconds, double bound);

/// Returns the fact "run_bound_s": a lower bound on the seconds of the whole run.
Fact run_bound_fact(double bound);

/// Throws InternalError if these facts of a plan include a gap below 0: then the bound is false.
void check_bounds(const std::vector<Fact>& facts);

/// Returns the fact "micro_batch_bound_s". If micro-batches run side by side, the name of the fact is "pass_bound_s".
Fact bound_fact(double bound, bool side_by_side);

/// Returns the fact "proven": whether the fates are proven to be the fastest.
Fact proven_fact(bool proven);

/// Returns whether the fact is a gap, a bound or "proven". Such a fact holds only for the memory that the search had.
bool is_proven(const Fact& fact);

/// The run of a replica if no other replica slows it down.
struct RunAlone {
  double seconds = 0;
  /// Whether the replica was planned for the links as they are. If it was planned for slower links, its bounds are
  /// false for the run of all replicas.
  bool bounds_hold = true;
};

/// Changes what facts of replicas prove, so that they hold for the run of all replicas, which takes `seconds`. `alone`
/// has the run of each replica alone, by the name of the replica. A lower bound of a run alone also holds for the run of
/// all replicas, so the gap of each replica becomes the gap between `seconds` and this bound. Removes facts that do not
/// hold for the run of all replicas.
void state_for_all_replicas(std::vector<Fact>& facts, const std::map<std::string, RunAlone>& alone,
                            double seconds);

/// Adds four facts about each stage: its fate, the bytes that it makes, the seconds to recompute these bytes, and the
/// seconds to copy them to host memory and back. If there are more than 64 stages, adds nothing.
void explain(const Chain& chain, FateChoice& choice);

}  // namespace sluice
