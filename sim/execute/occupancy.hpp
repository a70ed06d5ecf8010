// Divides an action into two parts. The first part is the flows that may share a link with other flows. The second
// part is all other work of the action, and is called the arithmetic part. Its seconds are known before the run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/tables.hpp"

namespace sluice {

class Occupancy {
 public:
  /// If `every_flow` is true, every flow with bytes counts as a flow that may share a link, even a flow that is alone
  /// on its links.
  explicit Occupancy(const PlanTables& tables, bool every_flow = false);

  /// Returns whether the action has an arithmetic part, such as a computation or a flow that shares no link.
  bool has_own(std::uint32_t action) const { return own_[action] >= 0; }
  /// Returns the seconds of the arithmetic part.
  double own(std::uint32_t action) const { return own_[action]; }
  /// Returns those flows of the action that may share a link with other flows, as indices of Action::flows.
  std::span<const std::uint32_t> shared(std::uint32_t action) const {
    return {shared_.data() + first_[action], shared_.data() + first_[action + 1]};
  }
  bool shares(std::uint32_t action) const { return first_[action] < first_[action + 1]; }

 private:
  /// For each action, the seconds of its arithmetic part. They are the seconds of its computation, or of a flow that
  /// shares no link, whichever takes longest. If the action has no arithmetic part, the number is -1.
  std::vector<double> own_;
  /// For each action, the index of its first entry in `shared_`.
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> shared_;
};

}  // namespace sluice
