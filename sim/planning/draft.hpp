// A policy returns a draft, and finish() turns the draft into a plan that can be executed. The policy decides which
// actions run, in which order, and with which waits. finish(), which all policies share, adds seconds and routes,
// and for plans without overlap further waits.
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
  /// Returns the decisions that follow from the prices of another request. The other request must differ from the
  /// request of this draft only in prices, so its stages are the stages of the draft. If the decisions for two requests
  /// are equal, their drafts are also equal, so the plan is made once and only its prices are replaced. The function
  /// must not refer to the request of this draft. If it is null, the decisions are not known, and the plan is always
  /// made again.
  std::function<PriceDecisions(const PolicyRequest& request)> decisions = {};

  Draft(Plan made, bool one_at_a_time = false)  // NOLINT(google-explicit-constructor)
      : plan(std::move(made)), one_at_a_time(one_at_a_time) {}
};

/// Returns the plan, ready to be executed. It has prices and routes, and its actions run one after the other if the
/// draft requires it. Actions that already have a price keep this price, so a finished plan does not change. Throws
/// InputError when no
/// links connect two memories, or when a device has no rate for the dtype.
Plan finish(Draft draft, const PolicyRequest& request);

}  // namespace sluice
