// A plan that is priced again: the same actions in the same places, with the seconds, rates and
// watts of another platform or cost model. It is what planning anew would come to, since a draft
// says what in it was decided by prices (draft.hpp), and is used again only where that stays as it
// was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planning/draft.hpp"

namespace sluice {

class PriceAgain {
 public:
  /// Of a draft that is about to be finished for this request, whose plan it becomes. None: the
  /// draft does not say what was decided by prices, or holds prices of its own.
  static std::optional<PriceAgain> of(const Draft& draft);

  /// To be called once, with the finished plan and before anything else. False: parts of it do not
  /// come from the platform, so that it cannot be priced again.
  bool learn(const Plan& plan, const PolicyRequest& request);
  /// The same where `other`, of a request that differs from this one in prices alone, has found
  /// what they decide for this one.
  bool learn(const Plan& plan, const PolicyRequest& request, const PriceAgain& other,
             PriceDecisions decided);

  /// What prices decide for a request that differs from that one in prices alone. Where it is what
  /// they decided for this plan, the plan of that request is this one, prices aside.
  PriceDecisions decisions(const PolicyRequest& request) const {
    return decisions_(with_own_stages(request));
  }
  const PriceDecisions& decided() const { return decided_; }
  /// Gives the plan the prices of this request. Throws InputError as finish() does, and where
  /// something is not a finite number of seconds.
  void price(Plan& plan, const PolicyRequest& request) const;

 private:
  /// Actions that have one price.
  struct Kind {
    ActionKind kind;
    WorkPart part;
    std::int32_t stage;
    std::uint32_t device;  ///< number in the platform
    std::int64_t samples;
    auto operator<=>(const Kind&) const = default;
  };
  struct Way {
    std::uint32_t route;
    std::string from, to;  ///< memories
  };
  PolicyRequest with_own_stages(const PolicyRequest& request) const;
  bool learn_parts(const Plan& plan, const Platform& platform);
  bool learn_ways(const Plan& plan, const Platform& platform);

  std::function<PriceDecisions(const PolicyRequest&)> decisions_;
  std::optional<std::vector<Stage>> stages_;
  PriceDecisions decided_;
  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> kind_of_;  ///< by action; none: it is a transfer
  std::vector<Way> ways_;
  std::vector<std::uint32_t> owners_;  ///< by stream: number of the device whose watts it has
};

}  // namespace sluice
