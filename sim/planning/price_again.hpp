// Pricing a plan again keeps its actions and their order, and takes seconds, rates and watts from another platform or
// cost model. The result equals a plan that is made anew: a draft says what prices decided in it (draft.hpp), and the
// plan is reused only if prices decide the same again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planning/draft.hpp"

namespace sluice {

class PriceAgain {
 public:
  /// Must be called with a draft before it is finished. Returns nothing if the draft does not say what prices decided,
  /// or if the draft has prices of its own.
  static std::optional<PriceAgain> of(const Draft& draft);

  /// Must be called once, with the finished plan, before anything else. Returns false when parts of
  /// the plan do not come from the platform, so that it cannot be priced again.
  bool learn(const Plan& plan, const PolicyRequest& request);
  /// Does the same as the other learn() when `other` has already found the decisions of this request. The request of
  /// `other` must differ from this one only in prices.
  bool learn(const Plan& plan, const PolicyRequest& request, const PriceAgain& other,
             PriceDecisions decided);

  /// Returns what prices decide for a request that differs from the first one only in prices. If
  /// these decisions equal those of this plan, the plan of that request is this plan with other
  /// prices.
  PriceDecisions decisions(const PolicyRequest& request) const {
    return decisions_(with_own_stages(request));
  }
  const PriceDecisions& decided() const { return decided_; }
  /// Gives the plan the prices of this request. Throws InputError like finish(), and when a number
  /// of seconds is not finite.
  void price(Plan& plan, const PolicyRequest& request) const;

 private:
  /// A group of actions with the same price.
  struct Kind {
    ActionKind kind;
    WorkPart part;
    std::int32_t stage;
    std::uint32_t device;  ///< number of the device in the platform
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
  std::vector<std::uint32_t> kind_of_;  ///< per action; `none` for a transfer
  std::vector<PricedRoute> routes_;
  std::vector<std::uint32_t> owners_;  ///< per stream: number of the device whose watts it has
};

}  // namespace sluice
