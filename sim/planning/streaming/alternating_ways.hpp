// Candidates of streamed inference in which passes alternate (alternating.hpp).
#pragma once

#include <memory>
#include <vector>

#include "planning/candidate.hpp"
#include "planning/streaming/alternating.hpp"
#include "planning/streaming/keys.hpp"

namespace sluice {

/// What alternating_candidates() makes its candidates from. The objects behind the references must outlive the
/// candidates. `streamed` must be made with `offload` = false (streamed_case()): boundaries stay on the device.
struct AlternatingCase {
  const PolicyRequest& request;
  const CommonParameters& common;
  const StreamedKeys& keys;
  const StreamedCase& streamed;
  std::optional<std::int64_t> capacity;
};

/// Returns candidates with this number of micro-batches in flight. The candidates hold `context`, which must keep the
/// objects of `alternating` alive. The result is empty if the scenario asks for something that alternating plans cannot
/// do, if a run has too many slots, or if alternating passes would gain nothing.
std::vector<Candidate> alternating_candidates(const AlternatingCase& alternating,
                                              std::int64_t in_flight,
                                              const std::shared_ptr<const void>& context);

/// Returns a lower bound of the seconds of the candidates for this number of micro-batches in flight. The bound also
/// holds if there are no candidates because the saves of answers are short. If no plan can alternate, returns infinity.
double alternating_at_least(const StreamedCase& streamed, std::int64_t in_flight);

}  // namespace sluice
