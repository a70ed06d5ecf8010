// Two executions of one plan, span by span: does each start and end when the other says? Seconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "trace/span.hpp"

namespace sluice {

/// The first execution: hands on to a sink, and keeps when each execution of an action was.
class Times final : public Sink {
 public:
  struct Pair {
    double start = 0, end = 0;
  };
  Times(const Plan& plan, Sink& next) : next_(next), times_(plan.actions.size()) {}
  void span(const Span& span) override;
  void memory(const MemoryEvent& event) override { next_.memory(event); }

  /// In the order of its executions.
  const std::vector<Pair>& of(std::uint32_t action) const { return times_[action]; }
  double makespan() const { return makespan_; }

 private:
  Sink& next_;
  std::vector<std::vector<Pair>> times_;  ///< by action
  double makespan_ = 0;
};

/// The second execution: throws InternalError at the first span whose start or end differs by more
/// than 1e-9 of the makespan, naming it.
class Comparison final : public Sink {
 public:
  Comparison(const Plan& plan, const Times& times)
      : plan_(plan), times_(times), seen_(plan.actions.size(), 0) {}
  void span(const Span& span) override;
  void memory(const MemoryEvent&) override {}
  /// Nothing more comes: throws where something is missing.
  void finish() const;

 private:
  [[noreturn]] void disagree(const Span& span, const std::string& there) const;

  const Plan& plan_;
  const Times& times_;
  std::vector<std::size_t> seen_;  ///< by action
};

}  // namespace sluice
