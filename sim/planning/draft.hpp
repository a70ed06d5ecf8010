// A policy returns a draft: it decides which actions run, in which order, and with which waits. finish() is the same
// for all policies. It turns the draft into a plan that can be simulated, by adding seconds and routes. If the draft
// asks for a plan without overlap, finish() also adds waits, so that the actions run one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "planning/request.hpp"

namespace sluice {

/// The decisions of a draft that depend on prices, written as numbers. Two drafts have equal numbers exactly if their
/// prices led to the same decisions.
using PriceDecisions = std::vector<std::int64_t>;
/// If no decision of a draft depends on prices, this function is the member `decisions` of the draft (struct Draft).
/// Returns an empty list.
inline PriceDecisions no_decisions(const PolicyRequest&) {
  return {};
}

struct Draft {
  Plan plan;  ///< the seconds and routes of its actions may be missing
  /// If true, finish() makes each action wait for the action that is listed before it. So no actions overlap.
  bool one_at_a_time = false;
  /// The stages of the draft, if they differ from the stages of the request. Empty if the policy has not changed the
  /// stages. finish() needs the weights of the stages for the prices of the updates.
  std::optional<std::vector<Stage>> stages = {};
  /// A function that returns the decisions for another request, which differs from this draft's request only in prices.
  /// If the decisions for two requests are equal, the drafts for them are equal, too. Then Sluice makes the plan only
  /// once. For the other request, Sluice only replaces the prices of this plan. The function must not refer to this
  /// draft's request. If the function is null, the decisions are not known, and Sluice makes the plan again for each
  /// request.
  std::function<PriceDecisions(const PolicyRequest& request)> decisions = {};

  Draft(Plan made, bool one_at_a_time = false)  // NOLINT(google-explicit-constructor)
      : plan(std::move(made)), one_at_a_time(one_at_a_time) {}
};

/// Returns the draft's plan with prices and routes, so that it can be simulated. If the draft has `one_at_a_time`, the
/// actions of the plan run one after the other. An action that has a price already keeps this price. So finish() does
/// not change a plan that is already finished. Throws InputError if no links connect two memories, or if a device has
/// no rate for the dtype.
Plan finish(Draft draft, const PolicyRequest& request);

}  // namespace sluice
