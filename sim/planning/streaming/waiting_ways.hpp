// Candidates of streamed inference in which actions may wait until memory has room.
#pragma once

#include <memory>
#include <vector>

#include "planning/candidate.hpp"
#include "planning/streaming/groups.hpp"

namespace sluice {

/// What waiting_candidates() makes candidates from. `request`, `common` and `streamed` must outlive the candidates.
struct WaitingCase {
  const PolicyRequest& request;
  const CommonParameters& common;
  const StreamedCase& streamed;
  StreamedChoice choice;  ///< if `prefetch` is empty, several numbers of groups are tried
  std::optional<std::int64_t> capacity;
  double at_least = 0;         ///< a lower bound of the seconds of every plan with this choice
  bool smaller_pieces = true;  ///< whether pieces of a quarter of the choice's size are tried, too
};

/// Returns candidates for this choice. A candidate lists loads as early as a limit of bytes allows. Several limits are
/// tried, which do not depend on the capacity. Weights, inputs and results share the bytes of a limit. An action may
/// have to wait until other actions have freed bytes. Unlike these candidates, a rehearsal reserves bytes for inputs
/// and results during a whole run of a group. A rehearsal also loads inputs at most one step early. `context` keeps the
/// members of `waiting` alive. Returns nothing if nothing overlaps, host memory may be too small, or there are too many
/// slots. Also returns nothing if there are several groups, and loads and saves slow each other down.
std::vector<Candidate> waiting_candidates(const WaitingCase& waiting,
                                          const std::shared_ptr<const void>& context);

}  // namespace sluice
