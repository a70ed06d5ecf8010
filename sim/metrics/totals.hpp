// Collects the totals of an execution while its spans and memory events arrive. The metrics are computed from these
// totals. The memory for the totals does not grow with the number of events. Units are seconds, bytes, joules and FLOP.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "metrics/bound.hpp"
#include "metrics/sum.hpp"
#include "plan/plan.hpp"
#include "trace/span.hpp"

namespace sluice {

/// Returns the last iteration of the middle step. If an iteration contains several steps, these steps count as one
/// step.
std::int64_t middle_iteration(const Plan& plan);

class Totals final : public Sink {
 public:
  template <class T>
  using ByClass = std::array<T, tensor_class_count>;

  struct Action {
    std::int64_t executions = 0;
    Sum seconds;  ///< the sum of end - start
  };
  struct Stream {
    std::int64_t spans = 0;
    double first_start = std::numeric_limits<double>::infinity();
    double last_end = 0;
    Sum exposed_s;  ///< the idle seconds of a compute stream while it waits for a transfer
    Sum filling_s;  ///< the idle seconds of a compute stream while the prologue loads weights
  };
  struct Pool {
    std::int64_t peak_bytes = 0;
    double peak_time = 0;  ///< the first moment of the peak
    /// The bytes of each class at the present moment, and at the first moment of the peak.
    ByClass<std::int64_t> level{}, at_peak{};
  };

  /// The sums over all actions.
  struct Sums {
    double compute_s = 0, recompute_s = 0, transfer_s = 0;
    double measured_s = 0;  ///< the part of compute_s that was measured
    double flop = 0, samples = 0, transferred_bytes = 0;
    std::vector<double> stream_busy_s, stream_joules;
    /// For each link, the seconds and bytes of its transfers. If a transfer crosses several links, each of them gets
    /// all its seconds and bytes. A flow of a computation counts with the seconds that it would take alone on its
    /// links.
    std::vector<double> link_transfer_s, link_bytes;
    ByClass<double> class_transfer_s{}, class_bytes{};
  };

  /// `plan` must have the seconds and routes of its actions, and must outlive this object.
  explicit Totals(const Plan& plan);

  void span(const Span& span) override;
  void memory(const MemoryEvent& event) override;
  /// Adds all repetitions of a part of the run. Each repetition leaves the bytes in the pools as they were before it.
  void repeat(const Repetition& repetition) override;

  const Plan& plan() const { return plan_; }
  /// Returns the time when all actions have ended and all data have arrived: the latest `available` of all spans.
  double makespan() const { return makespan_; }
  const std::vector<Action>& actions() const { return actions_; }
  const std::vector<Stream>& streams() const { return streams_; }
  const std::vector<Pool>& pools() const { return pools_; }
  const Sums& sums() const;  ///< the sums are computed at the first call after new spans

  /// Returns whether every action of the plan was executed as often as the plan says.
  bool complete() const;

  /// middle_complete() returns the time when iteration middle() was complete. middle() is the last iteration of the
  /// middle step. last_complete() returns the time when the last iteration was complete. An iteration is complete when
  /// the data of all its actions have arrived. If the run did not reach the iteration, the result is nullopt.
  std::optional<double> middle_complete() const { return middle_complete_; }
  std::int64_t middle() const { return middle_; }
  std::optional<double> last_complete() const { return last_complete_; }
  /// Returns the time when the first step was complete. If an iteration has several steps, this is the time when the
  /// number of complete samples reaches the number of samples of one step. If the first step was not completed, returns
  /// nullopt.
  std::optional<double> first_complete() const;

  /// Returns the bound of the plan. The first call computes this bound.
  const Bound& bound() const;

  /// Sets the bound of the question, in seconds. If the plan comes from a file and not from a question, pass nullopt.
  void set_question_bound(std::optional<double> seconds) { question_bound_ = seconds; }
  std::optional<double> question_bound() const { return question_bound_; }

  /// Sets the seconds of a step in the steady state, as a longer run has measured them (run/further_steps.hpp). If
  /// there was no longer run, pass nullopt.
  void set_further_step(std::optional<double> seconds) { further_step_ = seconds; }
  std::optional<double> further_step() const { return further_step_; }

 private:
  /// The facts about an action that span() reads for every span. They are copied, because reading whole actions would
  /// take longer.
  struct Place {
    std::uint32_t stream;
    bool compute, transfer;
    bool fills;      ///< whether the action loads weights in the prologue, before the first micro-batch
    bool ends_step;  ///< whether the action comes after all iterations of the only step, and ends it
    std::int32_t ahead;  ///< the number of iterations after which the work of the action is needed
  };
  struct FinishedSamples {
    double when;
    std::int64_t samples;
  };
  Sums add_up() const;
  /// Adds a flow to the sums. `seconds` is the time for which the flow is on its links, added up over all executions.
  void add_flow(Sums& sums, const sluice::Action& action, const Flow& flow, double executions,
                double seconds) const;
  /// Returns whether the span is a computation that waited for a transfer.
  bool waits_for_transfer(const Span& span) const {
    return places_[span.action].compute && span.waited > 0 && span.reason == WaitReason::data &&
           span.blocker < places_.size() && places_[span.blocker].transfer;
  }
  void complete(const Span& span);
  void complete_iterations(const Repetition& repetition, const Span& span);

  const Plan& plan_;
  double makespan_ = 0;
  std::int64_t filling_left_ =
      0;               ///< the actions that load weights in the prologue and have not ended
  double filled_ = 0;  ///< the time at which the last of them has ended
  std::int64_t middle_ = -1, last_ = -1;
  std::int64_t first_ = 0;  ///< the last iteration of the first step
  std::optional<double> first_complete_, middle_complete_, last_complete_;
  /// If an iteration contains several steps: the times at which the first iteration completes samples, each
  /// with the number of samples that are completed at this time.
  std::vector<FinishedSamples> finished_;
  std::vector<Place> places_;  ///< by action
  std::vector<Action> actions_;
  std::vector<Stream> streams_;
  std::vector<Pool> pools_;
  mutable std::optional<Sums> sums_;
  mutable std::optional<Bound> bound_;
  std::optional<double> question_bound_, further_step_;
};

}  // namespace sluice
