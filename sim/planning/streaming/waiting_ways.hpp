// Candidates of streamed inference whose actions may wait for memory.
#pragma once

#include <memory>
#include <vector>

#include "planning/candidate.hpp"
#include "planning/streaming/groups.hpp"

namespace sluice {

/// What a candidate that may wait for memory needs to know. `request`, `common` and `streamed` must outlive the
/// candidate.
struct WaitingCase {
  const PolicyRequest& request;
  const CommonParameters& common;
  const StreamedCase& streamed;
  StreamedChoice choice;  ///< if `prefetch` is empty, several numbers of groups are tried
  std::optional<std::int64_t> capacity;
  double at_least = 0;         ///< a lower bound of the seconds of every plan with this choice
  bool smaller_pieces = true;  ///< whether pieces of a quarter of the choice's size are tried, too
};

/// Returns candidates that list the loads of this choice as early as a number of bytes allows. Several numbers of bytes
/// are tried, which do not depend on the capacity. A rehearsal reserves room for results and inputs during a whole run
/// of a group. In these plans, results, inputs and weights share the room, and actions wait for each other. `context`
/// keeps the members of `waiting` alive. Returns nothing if copies of the run slow each other down, if host memory is
/// limited, or if a step has too many slots.
std::vector<Candidate> waiting_candidates(const WaitingCase& waiting,
                                          const std::shared_ptr<const void>& context);

}  // namespace sluice
