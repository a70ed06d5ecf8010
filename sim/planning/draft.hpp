// What a policy returns, and how it becomes a plan that can be executed. A policy says what runs,
// in which order, and what waits for what; prices, routes and "one thing at a time" come here, once
// for all policies.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "planning/request.hpp"

namespace sluice {

/// What a draft decided by seconds or rates, as numbers that are equal where the decisions are.
using PriceDecisions = std::vector<std::int64_t>;
/// Of a draft that no price has a part in.
inline PriceDecisions no_decisions(const PolicyRequest&) {
  return {};
}

struct Draft {
  Plan plan;  ///< seconds and routes may be open
  /// Without overlap: each action also waits for the one listed before it.
  bool one_at_a_time = false;
  /// The stages as the policy holds them, where these are not the stages of the request: update
  /// prices follow from their weights.
  std::optional<std::vector<Stage>> stages = {};
  /// What was decided by prices, for a request that differs from this one in prices alone (its
  /// stages are those of the draft): where that is the same for both, so are their drafts, and a
  /// plan is made once and priced again. It refers to nothing of this request. Null: nobody says;
  /// such a plan is always made anew.
  std::function<PriceDecisions(const PolicyRequest& request)> decisions = {};

  Draft(Plan made, bool one_at_a_time = false)  // NOLINT(google-explicit-constructor)
      : plan(std::move(made)), one_at_a_time(one_at_a_time) {}
};

/// The plan, ready to be executed: in series where that is asked for, priced and routed. What is
/// priced already keeps its price, so a finished plan stays as it is. Throws InputError when
/// nothing joins two memories or a device has no rate for the dtype.
Plan finish(Draft draft, const PolicyRequest& request);

}  // namespace sluice
