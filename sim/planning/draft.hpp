// What a policy returns, and how it becomes a plan that can be executed. A policy says what runs, in which order, and
// what waits for what. Seconds, routes, and waits for execution one action at a time are added here, for all policies
// alike.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "planning/request.hpp"

namespace sluice {

/// The decisions of a draft that depend on prices, as numbers. Two drafts have equal numbers exactly when prices led to
/// the same decisions.
using PriceDecisions = std::vector<std::int64_t>;
/// Returns no numbers, for a draft whose decisions do not depend on prices.
inline PriceDecisions no_decisions(const PolicyRequest&) {
  return {};
}

struct Draft {
  Plan plan;  ///< seconds and routes may be missing
  /// If true, each action also waits for the action that is listed before it, so that nothing overlaps.
  bool one_at_a_time = false;
  /// The stages after the policy changed them. Their weights give the prices of the updates. If this is empty, the
  /// draft has the stages of the request.
  std::optional<std::vector<Stage>> stages = {};
  /// Returns what the prices of another request would decide. That request must differ from this one only in prices, so
  /// its stages are those of the draft. If the decisions for two requests are equal, their drafts are equal too. Then
  /// the plan is made once, and only its prices are replaced. The function must not refer to this request. If null, the
  /// decisions are not known, so the plan is always made again.
  std::function<PriceDecisions(const PolicyRequest& request)> decisions = {};

  Draft(Plan made, bool one_at_a_time = false)  // NOLINT(google-explicit-constructor)
      : plan(std::move(made)), one_at_a_time(one_at_a_time) {}
};

/// Returns the plan, ready to be executed: in series if requested, with prices and routes. Actions
/// that have a price already keep it, so a finished plan does not change. Throws InputError when no
/// links connect two memories, or when a device has no rate for the dtype.
Plan finish(Draft draft, const PolicyRequest& request);

}  // namespace sluice
