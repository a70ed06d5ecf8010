// Checks whether streamed inference fits on a device with the choices of a scenario. In this check, transfers and
// computations run one after the other.
#pragma once

#include "planning/streaming/groups.hpp"

namespace sluice {

class StreamedFit {
 public:
  /// `request` and `common` must outlive this object.
  StreamedFit(const PolicyRequest& request, const CommonParameters& common,
              const StreamedChoice& choice);

  /// Returns the capacity of the device, or nothing if the capacity is not enforced.
  std::optional<std::int64_t> capacity() const { return capacity_; }
  /// Returns the most bytes on the device with this many micro-batches in flight.
  std::int64_t peak(std::int64_t in_flight) const;
  /// Returns the bytes on the device during each slot of a step.
  std::vector<std::int64_t> slot_bytes(std::int64_t in_flight) const;
  /// Throws Infeasible when this many micro-batches in flight do not fit. The message says which group does not fit,
  /// how many bytes this group needs, and how many micro-batches would fit. The message also lists the actions that
  /// would wait for memory for ever.
  void require(std::int64_t in_flight, const Plan& plan) const;

 private:
  std::int64_t bytes_at(std::size_t group, std::int64_t m, std::int64_t count) const;
  std::int64_t most_in_flight() const;
  /// Returns the bytes of all weights on the device during a run of the group.
  std::int64_t weights_at(std::size_t group) const;
  std::string group_text(std::size_t group, std::int64_t needed) const;

  const PolicyRequest& request_;
  const CommonParameters& common_;
  std::vector<StageBytes> bytes_;
  /// By group: the bytes of the weights that stay. If no weights stay, the vector may be empty.
  std::vector<std::int64_t> resident_;
  std::int64_t all_resident_;
  std::int64_t caches_, per_step_;
  bool offload_;
  std::optional<std::int64_t> capacity_;
};

}  // namespace sluice
