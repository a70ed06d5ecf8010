// Passes an execution on to a sink in an order that all executors share, however many things happen
// at one time. A moment consists of rounds: first everything that ends, by the number of the
// stream; then everything that this makes possible. What takes no time ends in the next round of
// the same moment. Within a round the sink gets the spans and their releases in that order, and
// after them the grants, again by stream. The row of a span is its place in this order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "execute/steady.hpp"
#include "plan/tables.hpp"
#include "trace/span.hpp"

namespace sluice {

class Emitter {
 public:
  /// Emits what is in the pools from the start. `spans_only`: the sink is told of no memory event.
  Emitter(const PlanTables& tables, Sink& sink, bool spans_only = false);

  /// Returns the row of the span.
  std::int64_t span(Span span) {
    if (sequence_) sequence_->fit(span, tables_.stream(span.action));
    sink_.span(span);
    if (keeps_) spans_.push_back(span);
    return rows_++;
  }
  void released(double time, const Placement& freed) {
    if (!spans_only_) change(time, freed, -tables_.plan.tensors[freed.tensor].bytes);
  }
  /// The grant is kept until the end of the round.
  void granted(double time, std::uint32_t action) {
    if (!spans_only_ && !tables_.allocations(action).empty()) grants_.push_back({time, action});
  }
  void end_round() {
    if (!grants_.empty()) emit_grants();
  }

  /// Forgets what was kept, and says whether what is emitted from now on is kept.
  void keep(bool keeps);
  /// A place in what is kept, for repeat().
  struct Mark {
    std::size_t spans = 0, events = 0;
  };
  Mark mark() const { return {spans_.size(), events_.size()}; }
  /// Repeats everything since the mark `times` times; afterwards nothing is kept.
  void repeat(const Mark& since, std::int64_t times, const Jump& period);

 private:
  struct Grant {
    double time;
    std::uint32_t action;
  };
  void emit_grants();
  void change(double time, const Placement& placement, std::int64_t delta) {
    MemoryEvent event{time, placement.pool, placement.tensor, delta,
                      levels_[placement.pool] += delta};
    if (sequence_) sequence_->fit(event);
    sink_.memory(event);
    if (keeps_) events_.push_back(event);
  }

  const PlanTables& tables_;
  Sink& sink_;
  bool spans_only_;
  std::int64_t rows_ = 0;
  std::vector<std::int64_t> levels_;  ///< by pool, as emitted
  std::vector<Grant> grants_;
  bool keeps_ = false;
  std::vector<Span> spans_;
  std::vector<MemoryEvent> events_;
  std::optional<Sequence> sequence_;  ///< exists once something was repeated
};

}  // namespace sluice
