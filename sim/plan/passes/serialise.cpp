#include "plan/passes/serialise.hpp"

namespace sluice {

void serialise(Plan& plan) {
  // Makes action `a` wait for action `before`. If `before` has `ahead`, some of its executions are dropped, and `a`
  // does not wait for a dropped execution. So `a` also waits for actions before `before`, back to an action that is
  // never dropped.
  const auto chain = [&](std::uint32_t a, std::uint32_t before, std::uint32_t begin,
                         std::uint32_t distance) {
    for (std::uint32_t b = before;; --b) {
      plan.actions[a].waits.push_back({b, distance});
      if (plan.actions[b].ahead == 0 || plan.section_of(b) != Section::body || b == begin) return;
    }
  };
  for (std::uint32_t a = 1; a < plan.actions.size(); ++a) chain(a, a - 1, 0, 0);
  if (plan.body_end > plan.body_begin)
    chain(plan.body_begin, plan.body_end - 1, plan.body_begin, 1);
}

}  // namespace sluice
