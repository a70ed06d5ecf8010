// Divides an action into two parts: flows that may share a link, and an arithmetic part with known seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/tables.hpp"

namespace sluice {

class Occupancy {
 public:
  /// If `every_flow` is true, all flows with bytes count as shared. This includes flows that are alone on their
  /// links.
  explicit Occupancy(const PlanTables& tables, bool every_flow = false);

  /// Returns whether the action has an arithmetic part: seconds of computation, or flows that share no link.
  bool has_own(std::uint32_t action) const { return own_[action] >= 0; }
  /// Returns the seconds of the arithmetic part.
  double own(std::uint32_t action) const { return own_[action]; }
  /// Returns the flows that may meet other flows on a link, by their numbers within the action.
  std::span<const std::uint32_t> shared(std::uint32_t action) const {
    return {shared_.data() + first_[action], shared_.data() + first_[action + 1]};
  }
  bool shares(std::uint32_t action) const { return first_[action] < first_[action + 1]; }

 private:
  /// For each action, its arithmetic seconds. The number is -1 if the action has no arithmetic part.
  std::vector<double> own_;
  /// For each action, the index of its first entry in `shared_`.
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> shared_;
};

}  // namespace sluice
