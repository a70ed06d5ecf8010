// Checks whether streamed inference with the choices of a scenario fits on a device. The check counts the bytes as if
// transfers and computations ran one after the other.
#pragma once

#include "planning/streaming/groups.hpp"

namespace sluice {

struct Draft;

class StreamedFit {
 public:
  /// `request` and `common` must outlive this object.
  StreamedFit(const PolicyRequest& request, const CommonParameters& common,
              const StreamedChoice& choice);

  /// Returns the bytes of the device's memory. The result is empty if they are unlimited or not enforced.
  std::optional<std::int64_t> capacity() const { return capacity_; }
  /// Returns the most bytes that the device holds at one moment with this many micro-batches in flight.
  std::int64_t peak(std::int64_t in_flight) const;
  /// Throws Infeasible when this many micro-batches in flight do not fit. The message says which group does not fit,
  /// how many bytes this group needs, and whether a single micro-batch would fit. The message also lists the actions
  /// that would wait for memory for ever. The shortage says how many micro-batches would fit with this choice.
  void require(std::int64_t in_flight, const Draft& draft) const;

 private:
  std::int64_t bytes_at(std::size_t group, std::int64_t m, std::int64_t count) const;
  std::int64_t most_in_flight() const;
  /// Returns the bytes of weights on the device during a run of the group: its own weights, and all weights that stay.
  std::int64_t weights_at(std::size_t group) const;
  std::string group_text(std::size_t group, std::int64_t needed) const;

  const PolicyRequest& request_;
  const CommonParameters& common_;
  std::vector<StageBytes> bytes_;
  /// Indexed by group: the bytes of the group's weights that stay. May be empty if no weights stay.
  std::vector<std::int64_t> resident_;
  std::int64_t all_resident_;
  std::int64_t caches_, per_step_;
  bool offload_;
  std::optional<std::int64_t> capacity_;
};

}  // namespace sluice
