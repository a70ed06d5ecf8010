// Candidates of streamed inference in which passes alternate (alternating.hpp).
#pragma once

#include <memory>
#include <vector>

#include "planning/candidate.hpp"
#include "planning/streaming/alternating.hpp"
#include "planning/streaming/keys.hpp"

namespace sluice {

/// The data from which candidates are made. All objects must outlive the candidates. `streamed` holds the bytes and
/// seconds of the groups for boundaries that stay on the device.
struct AlternatingCase {
  const PolicyRequest& request;
  const CommonParameters& common;
  const StreamedKeys& keys;
  const StreamedCase& streamed;
  std::optional<std::int64_t> capacity;
};

/// Returns candidates for this number of micro-batches in flight. `context` keeps the members of `alternating` alive.
/// There are no candidates if the scenario makes a choice that alternating plans cannot obey. There are also none if a
/// run has too many slots.
std::vector<Candidate> alternating_candidates(const AlternatingCase& alternating,
                                              std::int64_t in_flight,
                                              const std::shared_ptr<const void>& context);

}  // namespace sluice
