// The choices of streamed inference that a scenario leaves open, as candidates for the judge.
#pragma once

#include <memory>

#include "planning/candidate.hpp"
#include "planning/streaming/rehearsal.hpp"

namespace sluice {

/// What the scenario says of each choice; none: it is open.
struct StreamedKeys {
  std::optional<std::int64_t> in_flight, buffers, prefetch, piece, ahead;
  std::optional<bool> offload;
  /// Nothing is left to choose, and the whole device may be used.
  bool all_given() const { return in_flight && buffers && prefetch && piece && offload && !ahead; }
};
StreamedKeys streamed_keys(const PolicyRequest& request, const Common& common,
                           const Reader& parameters);

/// The fields in_flight, prefetch, pieces and ahead.
std::vector<Field> streamed_parameters();

/// By fate of the boundaries and number of passes. `request` and what it refers to must outlive
/// them.
std::vector<Candidate> streamed_candidates(const PolicyRequest& request, const Common& common,
                                           const StreamedKeys& keys);

}  // namespace sluice
