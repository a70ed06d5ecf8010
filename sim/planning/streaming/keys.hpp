// What a scenario says of the choices of streamed inference.
#pragma once

#include "planning/streaming/residency.hpp"

namespace sluice {

/// What the scenario says of each choice; none: it is open.
struct StreamedKeys {
  std::optional<std::int64_t> in_flight, buffers, prefetch, piece, ahead;
  std::optional<bool> offload;
  ResidentKey resident;
  /// Nothing is left to choose, and the whole device may be used.
  bool all_given() const { return in_flight && buffers && prefetch && piece && offload && !ahead; }
};
StreamedKeys streamed_keys(const PolicyRequest& request, const Common& common,
                           const Reader& parameters);

/// The fields in_flight, prefetch, pieces, ahead and resident.
std::vector<Field> streamed_parameters();

}  // namespace sluice
