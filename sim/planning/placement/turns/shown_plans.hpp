// What is known from other requests, which differ only in the capacity of the device's first memory. The plans that a
// policy makes for shown machines do not depend on the capacities of the real memories, so these requests share them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "plan/plan.hpp"
#include "planning/placement/turns/shown_machine.hpp"

namespace sluice {

/// The fastest plan for a shown machine, with the text of its choices.
struct ShownPlan {
  double seconds = 0;
  std::string text;
  Plan plan;
};

class ShownPlans {
 public:
  /// A lower bound of the seconds of all plans for the request. With more memory, the fastest plan takes so many seconds.
  double at_least = 0;

  /// The size of the shown machine's memory, and its rates.
  using Machine = std::tuple<std::int64_t, ShownRates>;
  using Made = std::shared_ptr<const ShownPlan>;

  /// Returns what `make` returns for this machine and this strategy for fates. Calls `make` only if the plan is not known
  /// yet.
  Made plan(const std::string& strategy, const Machine& machine,
            const std::function<Made()>& make) {
    const std::pair<std::string, Machine> asked(strategy, machine);
    const auto known = known_.find(asked);
    return known != known_.end() ? known->second : known_.emplace(asked, make()).first->second;
  }

 private:
  std::map<std::pair<std::string, Machine>, Made> known_;
};

}  // namespace sluice
