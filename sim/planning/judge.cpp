#include <algorithm>

#include "base/interrupt.hpp"
#include "planning/candidate.hpp"

namespace sluice {

namespace {

/// Equal but for rounding: what stands first in the list is kept.
bool faster(double a, double b) {
  return a < b * (1 - 1e-12);
}

void note(Judgement& judgement, const Settled& settled) {
  ++judgement.simulated;
  if (settled.seconds == std::numeric_limits<double>::infinity()) return;
  if (!judgement.best.plan || faster(settled.seconds, judgement.best.seconds)) {
    if (judgement.best.plan) judgement.runner_up = std::move(judgement.best);
    judgement.best = settled;
  } else if (!judgement.runner_up || faster(settled.seconds, judgement.runner_up->seconds)) {
    judgement.runner_up = settled;
  }
}

}  // namespace

// Those with the least lower bound come first. When that of the next one is not below the best that
// was found, no further one is faster: the answer is the same as if all had been simulated.
Judgement judge(std::vector<Candidate> candidates) {
  Judgement judgement;
  for (const Candidate& candidate : candidates) judgement.candidates += candidate.ways;
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.at_least < b.at_least; });
  for (const Candidate& candidate : candidates) {
    if (judgement.best.plan && !faster(candidate.at_least, judgement.best.seconds)) break;
    check_interrupt();
    candidate.simulate(judgement.best.seconds,
                       [&](const Settled& settled) { note(judgement, settled); });
  }
  return judgement;
}

}  // namespace sluice
