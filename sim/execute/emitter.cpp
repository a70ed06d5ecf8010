#include "execute/emitter.hpp"

namespace sluice {

Emitter::Emitter(const PlanTables& tables, Sink& sink, bool spans_only)
    : tables_(tables), sink_(sink), spans_only_(spans_only), levels_(tables.plan.pools.size(), 0) {
  if (spans_only) return;
  const Plan& plan = tables.plan;
  for (std::uint32_t t = 0; t < plan.tensors.size(); ++t)
    if (plan.tensors[t].home != none) change(0, {t, plan.tensors[t].home}, plan.tensors[t].bytes);
}

void Emitter::begin_record() {
  end_record();
  keeps_ = true;
}

void Emitter::end_record() {
  keeps_ = false;
  spans_.clear();
  events_.clear();
}

void Emitter::repeat(const Mark& since, std::int64_t times, const Jump& period) {
  spans_.erase(spans_.begin(), spans_.begin() + static_cast<std::ptrdiff_t>(since.spans));
  events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(since.events));
  std::vector<std::uint32_t> streams;
  for (const Span& span : spans_) streams.push_back(tables_.stream(span.action));
  const Repetition repetition{times, period.seconds, period.iterations, spans_, events_, streams};
  sink_.repeat(repetition);
  sequence_.emplace(repetition, times);
  rows_ += times * period.rows;
  end_record();
}

void Emitter::emit_grants() {
  if (grants_.size() > 1)
    std::sort(grants_.begin(), grants_.end(), [&](const Grant& a, const Grant& b) {
      return tables_.stream(a.action) < tables_.stream(b.action);
    });
  for (const Grant& grant : grants_)
    for (const Allocation& made : tables_.allocations(grant.action))
      change(grant.time, made.placement, made.bytes);
  grants_.clear();
}

}  // namespace sluice
