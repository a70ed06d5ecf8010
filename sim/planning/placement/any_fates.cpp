#include "planning/placement/any_fates.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "fates/optimal/report.hpp"

namespace sluice {

Candidate with_bound_of_any_fates(Candidate candidate, std::function<double()> bound) {
  const auto known = std::make_shared<std::optional<double>>();
  return changed(std::move(candidate), [bound = std::move(bound), known](Settled& one) {
    if (!one.plan) return;
    one.plan = [plan = std::move(one.plan), seconds = one.seconds, bound, known] {
      Plan made = plan();
      if (!*known) *known = bound();
      std::erase_if(made.facts, is_proven);
      made.facts.push_back(run_bound_fact(**known));
      made.facts.push_back(gap_fact(seconds, **known));
      return made;
    };
  });
}

}  // namespace sluice
