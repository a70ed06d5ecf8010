// What a policy returns, and how it becomes a plan that can be executed. A policy says what runs,
// in which order, and what waits for what. Prices, routes and execution in series are added here,
// in one place for all policies.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "planning/request.hpp"

namespace sluice {

/// What a draft decided by seconds or rates, as numbers that are equal exactly where the decisions
/// are.
using PriceDecisions = std::vector<std::int64_t>;
/// The decisions of a draft that does not depend on prices.
inline PriceDecisions no_decisions(const PolicyRequest&) {
  return {};
}

struct Draft {
  Plan plan;  ///< seconds and routes may be open
  /// Without overlap each action also waits for the one that is listed before it.
  bool one_at_a_time = false;
  /// The stages as the policy uses them, where these are not the stages of the request: prices of
  /// updates follow from their weights.
  std::optional<std::vector<Stage>> stages = {};
  /// Returns what prices decide for a request that differs from this one only in prices (its stages
  /// are those of the draft). Where that is the same for both, their drafts are the same, so a plan
  /// is made once and priced again. The function refers to nothing of this request. Null: not
  /// known, so such a plan is always made anew.
  std::function<PriceDecisions(const PolicyRequest& request)> decisions = {};

  Draft(Plan made, bool one_at_a_time = false)  // NOLINT(google-explicit-constructor)
      : plan(std::move(made)), one_at_a_time(one_at_a_time) {}
};

/// The plan, ready to be executed: in series where that is asked for, with prices and routes. What
/// has a price already keeps it, so a finished plan stays as it is. Throws InputError when no links
/// connect two memories, or a device has no rate for the dtype.
Plan finish(Draft draft, const PolicyRequest& request);

}  // namespace sluice
