#include "planning/draft.hpp"

#include "plan/passes/serialise.hpp"

namespace sluice {

Plan finish(Draft draft, const PolicyRequest& request) {
  if (draft.one_at_a_time) serialise(draft.plan);
  lower(draft.plan, request.pricing.of(draft.stages ? *draft.stages : request.pricing.stages));
  return std::move(draft.plan);
}

}  // namespace sluice
