#include "planning/draft.hpp"

#include "plan/passes/serialise.hpp"

namespace sluice {

Plan finish(Draft draft, const PolicyRequest& request) {
  if (draft.one_at_a_time) serialise(draft.plan);
  const Pricing& pricing = request.pricing;
  lower(draft.plan, {pricing.model, draft.stages ? *draft.stages : pricing.stages, pricing.platform,
                     pricing.cost, pricing.dtype, pricing.training});
  return std::move(draft.plan);
}

}  // namespace sluice
