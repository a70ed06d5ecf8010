// When a plan is priced again, its actions and their order stay. Its seconds, rates and watts come from another
// platform or cost model. The result equals a plan that is newly made with the new prices. A draft says which of its
// decisions depend on prices (draft.hpp). A plan is priced again only if the new prices lead to the same decisions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planning/draft.hpp"

namespace sluice {

class PriceAgain {
 public:
  /// Takes a draft that has not gone through finish(). Returns nothing in two cases. In the first case, the draft does
  /// not say which decisions depend on prices. In the second case, the policy itself has set prices in the draft.
  static std::optional<PriceAgain> of(const Draft& draft);

  /// Must be called with the finished plan, once, before all other functions. Returns false if
  /// parts of the plan do not come from the platform. Such a plan cannot be priced again.
  bool learn(const Plan& plan, const PolicyRequest& request);
  /// Like the other learn(), without computing the decisions: `other` has already found `decided` for this request. The
  /// request of `other` must differ from this request only in prices.
  bool learn(const Plan& plan, const PolicyRequest& request, const PriceAgain& other,
             PriceDecisions decided);

  /// Returns the decisions to which the prices of a request lead. The request may differ from the request of learn()
  /// only in prices. If the decisions equal decided(), the plan of the request is this plan with other prices.
  PriceDecisions decisions(const PolicyRequest& request) const {
    return decisions_(with_own_stages(request));
  }
  const PriceDecisions& decided() const { return decided_; }
  /// Replaces the prices of the plan by the prices of this request. Throws InputError in the same cases as finish().
  /// Also throws InputError if the seconds of an action are not finite.
  void price(Plan& plan, const PolicyRequest& request) const;

 private:
  /// The properties on which the price of an action depends.
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
  /// By stream: the index of the device whose watts the stream has, or `none`.
  std::vector<std::uint32_t> owners_;
};

}  // namespace sluice
