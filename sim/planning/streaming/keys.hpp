// The keys of a scenario for the choices of streamed inference.
#pragma once

#include "planning/streaming/residency.hpp"

namespace sluice {

/// The choices that the scenario makes. If a member is empty, its choice is open.
struct StreamedKeys {
  std::optional<std::int64_t> in_flight, buffers, prefetch, piece, ahead;
  std::optional<bool> offload;
  ResidentKey resident;
  /// Returns whether `ahead` is the only open choice, not counting `resident`. If it is, early loads may use all
  /// memory.
  bool all_given() const { return in_flight && buffers && prefetch && piece && offload && !ahead; }
};
StreamedKeys streamed_keys(const PolicyRequest& request, const CommonParameters& common,
                           const Reader& parameters);

/// Returns the fields, and after them `resident`, `resident_gradients` and `resident_optimizer`. `what` says what
/// `resident` lists.
std::vector<Field> with_staying_parameters(std::vector<Field> fields, const std::string& what);

/// Returns the fields `in_flight`, `prefetch`, `pieces`, `ahead`, and those of with_staying_parameters().
std::vector<Field> streamed_parameters();

}  // namespace sluice
