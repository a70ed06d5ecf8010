#include "execute/emitter.hpp"

namespace sluice {

Emitter::Emitter(const Plan& plan, Sink& sink)
    : plan_(plan), sink_(sink), levels_(plan.pools.size(), 0) {
  for (std::uint32_t t = 0; t < plan.tensors.size(); ++t)
    if (plan.tensors[t].home != none) change(0, {t, plan.tensors[t].home}, plan.tensors[t].bytes);
}

void Emitter::keep(bool keeps) {
  keeps_ = keeps;
  spans_.clear();
  events_.clear();
}

void Emitter::repeat(const Mark& since, std::int64_t times, const Jump& period) {
  spans_.erase(spans_.begin(), spans_.begin() + static_cast<std::ptrdiff_t>(since.spans));
  events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(since.events));
  std::vector<std::uint32_t> streams;
  for (const Span& span : spans_) streams.push_back(plan_.actions[span.action].stream);
  const Repetition repetition{times, period.seconds, period.iterations, spans_, events_, streams};
  sink_.repeat(repetition);
  sequence_.emplace(repetition, times);
  rows_ += times * period.rows;
  keep(false);
}

void Emitter::emit_grants() {
  std::sort(grants_.begin(), grants_.end(), [&](const Grant& a, const Grant& b) {
    return plan_.actions[a.action].stream < plan_.actions[b.action].stream;
  });
  for (const Grant& grant : grants_)
    for (const Placement& placement : plan_.actions[grant.action].allocates)
      change(grant.time, placement, plan_.tensors[placement.tensor].bytes);
  grants_.clear();
}

}  // namespace sluice
