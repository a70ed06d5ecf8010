// What of an action's time is arithmetic, and which of its flows may meet others on a link.
// Seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/tables.hpp"

namespace sluice {

class Occupancy {
 public:
  /// `every_flow`: all flows with bytes are told apart, also those that are alone on their links.
  explicit Occupancy(const PlanTables& tables, bool every_flow = false);

  /// Has it a part that is arithmetic: seconds, or a flow that is alone on its links?
  bool has_own(std::uint32_t action) const { return own_[action] >= 0; }
  /// How long that part takes.
  double own(std::uint32_t action) const { return own_[action]; }
  /// The flows that may meet others: their numbers among the action's.
  std::span<const std::uint32_t> shared(std::uint32_t action) const {
    return {shared_.data() + first_[action], shared_.data() + first_[action + 1]};
  }
  bool shares(std::uint32_t action) const { return first_[action] < first_[action + 1]; }

 private:
  std::vector<double> own_;           ///< by action; -1: there is no such part
  std::vector<std::uint32_t> first_;  ///< by action, in `shared_`
  std::vector<std::uint32_t> shared_;
};

}  // namespace sluice
