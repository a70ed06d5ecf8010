// Compares the spans of two executions of one plan. Each span must have the same start and the same end in both
// executions, within a tolerance. All times are in seconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "trace/span.hpp"

namespace sluice {

/// The sink of the first of the two compared executions. Passes every span and memory event on to
/// another sink, and keeps the times of each span.
class Times final : public Sink {
 public:
  struct Pair {
    double start = 0, end = 0;
  };
  Times(const Plan& plan, Sink& next) : next_(next), times_(plan.actions.size()) {}
  void span(const Span& span) override;
  void memory(const MemoryEvent& event) override { next_.memory(event); }

  /// Returns the start and the end of each execution of an action, in the order of the executions.
  const std::vector<Pair>& of(std::uint32_t action) const { return times_[action]; }
  double makespan() const { return makespan_; }

 private:
  Sink& next_;
  std::vector<std::vector<Pair>> times_;  ///< the start and the end of each execution, by action
  double makespan_ = 0;
};

/// The sink of the second execution. If a start or an end of a span differs from the first execution by more than the
/// tolerance, throws InternalError. The message names this span.
class Comparison final : public Sink {
 public:
  Comparison(const Plan& plan, const Times& times, double tolerance)
      : plan_(plan), times_(times), tolerance_(tolerance), seen_(plan.actions.size(), 0) {}
  void span(const Span& span) override;
  void memory(const MemoryEvent&) override {}
  /// Call this function after the last span. Throws InternalError if the second execution lacks spans of the first
  /// execution.
  void finish() const;

 private:
  [[noreturn]] void disagree(const Span& span, const std::string& there) const;

  const Plan& plan_;
  const Times& times_;
  /// In seconds: two times count as equal if they differ by at most this number.
  const double tolerance_;
  /// For each action: how many spans of this action the second execution has sent so far.
  std::vector<std::size_t> seen_;
};

}  // namespace sluice
