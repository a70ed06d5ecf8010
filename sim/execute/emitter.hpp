// Passes the spans and memory events of an execution to a sink. Their order does not depend on the executor, even if
// many actions start and end at the same time. For this, a moment consists of rounds. At the beginning of a round,
// every action that is due ends, in the order of the streams' numbers. Then actions start if they waited for nothing
// but these ends. If such an action takes no time, it ends in the next round of the same moment. In each round, the
// sink first receives the spans that have ended, with their releases of bytes, and then the grants. The spans and the
// grants are in the order of the streams. The row of a span is its position among all spans.
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
  /// Emits memory events for the bytes that the pools hold at the start. If `spans_only` is true, the sink receives no
  /// memory events.
  Emitter(const PlanTables& tables, Sink& sink, bool spans_only = false);

  /// Emits a span and returns its row.
  std::int64_t span(Span span) {
    if (sequence_) sequence_->fit(span, tables_.stream(span.action));
    sink_.span(span);
    if (keeps_) spans_.push_back(span);
    return rows_++;
  }
  void released(double time, const Placement& freed) {
    if (!spans_only_) change(time, freed, -tables_.plan.tensors[freed.tensor].bytes);
  }
  /// Records a grant, which is emitted at the end of the round.
  void granted(double time, std::uint32_t action) {
    if (!spans_only_ && !tables_.allocations(action).empty()) grants_.push_back({time, action});
  }
  void end_round() {
    if (!grants_.empty()) emit_grants();
  }

  /// Begins an empty record of spans and events. repeat() emits recorded spans and events again.
  void begin_record();
  /// Deletes the record. Later spans and events are not recorded.
  void end_record();
  /// A position in the record, from which repeat() emits again.
  struct Mark {
    std::size_t spans = 0, events = 0;
  };
  Mark mark() const { return {spans_.size(), events_.size()}; }
  /// Repeats all spans and events since the mark `times` times. Deletes the record afterwards.
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
  std::vector<std::int64_t> levels_;  ///< indexed by pool, after the last emitted event
  std::vector<Grant> grants_;
  bool keeps_ = false;
  std::vector<Span> spans_;
  std::vector<MemoryEvent> events_;
  std::optional<Sequence> sequence_;  ///< set by the first call of repeat()
};

}  // namespace sluice
