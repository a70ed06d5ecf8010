// To price a plan again means: the plan keeps its actions and their order, but gets the seconds, rates and watts of
// another platform or cost model. This is done only if a new plan for these prices would be the same. A draft says
// which of its decisions depend on prices (draft.hpp). If the new prices lead to the same decisions, they lead to the
// same plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planning/draft.hpp"

namespace sluice {

class PriceAgain {
 public:
  /// `draft` must not have gone through finish(). The result is empty if the draft does not say which decisions depend
  /// on prices, or if the policy itself has set prices in the draft.
  static std::optional<PriceAgain> of(const Draft& draft);

  /// Must be called once, before all other functions. `plan` must be the finished plan. Returns false if the plan
  /// cannot be priced again, because some of its links, routes or devices are not those of the platform.
  bool learn(const Plan& plan, const PolicyRequest& request);
  /// Does the same as the other learn(), but computes no decisions: `decided` are the decisions that `other` has found
  /// for this request. The request of `other` may differ from this request only in prices.
  bool learn(const Plan& plan, const PolicyRequest& request, const PriceAgain& other,
             PriceDecisions decided);

  /// Returns the decisions to which the prices of `request` lead. `request` may differ from the request of learn() only
  /// in prices. If the decisions equal decided(), price() makes the plan for `request`.
  PriceDecisions decisions(const PolicyRequest& request) const {
    return decisions_(with_own_stages(request));
  }
  const PriceDecisions& decided() const { return decided_; }
  /// Replaces the prices of the plan by the prices of this request. Throws InputError if finish() would throw it, or if
  /// the seconds of an action are not finite.
  void price(Plan& plan, const PolicyRequest& request) const;

 private:
  /// The properties of an action on which its price depends.
  struct Kind {
    ActionKind kind;
    WorkPart part;
    std::int32_t stage;
    std::uint32_t device;  ///< the index of the device in the platform
    std::int64_t samples;
    auto operator<=>(const Kind&) const = default;
  };
  struct PricedRoute {
    std::uint32_t route;
    std::string from, to;  ///< memories
  };
  PolicyRequest with_own_stages(const PolicyRequest& request) const;
  bool learn_parts(const Plan& plan, const Platform& platform);
  bool learn_routes(const Plan& plan, const Platform& platform);

  std::function<PriceDecisions(const PolicyRequest&)> decisions_;
  std::optional<std::vector<Stage>> stages_;
  PriceDecisions decided_;
  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> kind_of_;  ///< indexed by action; `none` for a transfer
  std::vector<PricedRoute> routes_;
  /// Indexed by stream: the index of the device that computes on the stream, or `none` for a copy stream.
  std::vector<std::uint32_t> owners_;
};

}  // namespace sluice
