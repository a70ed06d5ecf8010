// What a policy returns, and how it becomes a plan that can be executed. A policy says what runs,
// in which order, and what waits for what. Seconds, routes and execution in series are added here,
// in one place for all policies.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "planning/request.hpp"

namespace sluice {

/// The decisions of a draft that depend on seconds or rates, as numbers. The numbers are equal
/// exactly when the decisions are equal.
using PriceDecisions = std::vector<std::int64_t>;
/// For a draft whose decisions do not depend on prices.
inline PriceDecisions no_decisions(const PolicyRequest&) {
  return {};
}

struct Draft {
  Plan plan;  ///< seconds and routes may be missing
  /// Without overlap each action also waits for the one that is listed before it.
  bool one_at_a_time = false;
  /// The stages as the policy uses them, if they are not the stages of the request. The prices of
  /// updates follow from their weights.
  std::optional<std::vector<Stage>> stages = {};
  /// Returns the decisions that depend on prices, for a request that differs from this one only in
  /// prices (its stages are those of the draft). If the decisions for two requests are equal, their
  /// drafts are equal too, so the plan is made once and only its prices are replaced. The function
  /// refers to nothing of this request. Null: not known, so such a plan is always made again.
  std::function<PriceDecisions(const PolicyRequest& request)> decisions = {};

  Draft(Plan made, bool one_at_a_time = false)  // NOLINT(google-explicit-constructor)
      : plan(std::move(made)), one_at_a_time(one_at_a_time) {}
};

/// Returns the plan, ready to be executed: in series if requested, with prices and routes. Actions
/// that have a price already keep it, so a finished plan does not change. Throws InputError when no
/// links connect two memories, or when a device has no rate for the dtype.
Plan finish(Draft draft, const PolicyRequest& request);

}  // namespace sluice
