// A policy returns a draft, and finish() turns the draft into a plan that can be executed. The policy decides which
// actions run, in which order, and with which waits. All policies share finish(). It adds seconds and routes. For a
// plan without overlap, it also adds waits: the actions then run one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "planning/request.hpp"

namespace sluice {

/// Those decisions of a draft that depend on prices, as numbers. If the prices of two drafts led to equal
/// decisions, these numbers are equal, and otherwise they differ.
using PriceDecisions = std::vector<std::int64_t>;
/// Returns an empty list: the `decisions` of a draft that does not depend on prices.
inline PriceDecisions no_decisions(const PolicyRequest&) {
  return {};
}

struct Draft {
  Plan plan;  ///< the seconds and routes of its actions may be missing
  /// If true, each action also waits for the action listed before it, so no actions overlap.
  bool one_at_a_time = false;
  /// The stages of the draft, if the policy has changed the stages of the request. Without a value, the policy has
  /// changed no stage. The weights of the stages give the prices of the updates.
  std::optional<std::vector<Stage>> stages = {};
  /// Returns the decisions that follow from the prices of another request. The other request differs from the request
  /// of this draft in prices only: both have the same stages. If the decisions for two requests are equal, the drafts
  /// are equal, too. Sluice then makes the plan once and replaces only its prices. The function must not refer to the
  /// request of this draft. If the function is null, the decisions are not known, and Sluice always makes the plan
  /// again.
  std::function<PriceDecisions(const PolicyRequest& request)> decisions = {};

  Draft(Plan made, bool one_at_a_time = false)  // NOLINT(google-explicit-constructor)
      : plan(std::move(made)), one_at_a_time(one_at_a_time) {}
};

/// Returns the plan, ready to be executed, with prices and routes. If the draft has `one_at_a_time`, the actions of
/// the plan run one after the other. An action that already has a price keeps it, so finish() does not change a
/// finished plan. Throws InputError if no links connect two memories, or if a device has no rate for the dtype.
Plan finish(Draft draft, const PolicyRequest& request);

}  // namespace sluice
