// Lower bounds of the seconds that a run still takes. A replay whose caller does not need long runs can therefore end
// early (ReplayOptions::worth).
#pragma once

#include <cstdint>
#include <vector>

#include "execute/arithmetic/sharing.hpp"
#include "plan/tables.hpp"

namespace sluice {

/// Lower bounds for the runs of a plan, with any limits of memory. There are two bounds.
///
/// From its start, an execution takes its seconds, or more if other flows use its links. Its data arrive after its
/// latency. The next execution of its stream starts when it has ended, and an execution that waits for it starts when
/// its data have arrived. So the seconds of each chain of such executions are a lower bound.
///
/// A link needs at least (bytes) / (bandwidth) seconds for the bytes that have not crossed it yet. One execution is the
/// last one that ends a flow on this link. So after this end, the run takes at least the least seconds that it takes
/// after the end of any execution with a flow on the link.
class LeastRest {
 public:
  explicit LeastRest(const PlanTables& tables);

  /// Returns a lower bound of the seconds from the start of this execution until the run has ended.
  double seconds(std::uint32_t action, std::int64_t iteration) const {
    return rest_[number(action, iteration)];
  }
  /// Returns a lower bound of the seconds of the run.
  double all_seconds() const;

  /// All flows on a link that several flows may use at the same time. For other links, `bytes` is 0.
  struct OnLink {
    double bytes = 0, bandwidth = 0;
    double after_s = 0;  ///< the least seconds of the run after the end of a flow
    double seconds(double bytes_left) const { return bytes_left / bandwidth + after_s; }
  };
  const std::vector<OnLink>& links() const { return links_; }

 private:
  std::size_t number(std::uint32_t action, std::int64_t iteration) const {
    return action < plan_.body_begin ? action
           : action < plan_.body_end
               ? action + static_cast<std::size_t>(iteration) * (plan_.body_end - plan_.body_begin)
               : action + after_body_;
  }
  void add(const PlanTables& tables, std::uint32_t action, std::int64_t iteration);

  const Plan& plan_;
  std::size_t after_body_;  ///< how many more executions than actions the body has
  /// Indexed by number(). Until an execution is added, its element is a lower bound of the seconds after its end.
  std::vector<double> rest_;
  std::vector<double> next_;  ///< indexed by stream: the bound of the execution that was added last
  std::vector<OnLink> links_;  ///< indexed by link
};

/// The seconds that a run must not reach, because its caller then does not need it.
struct ReplayWorth {
  double seconds;
  const LeastRest& rest;  ///< for the plan of the run
};

/// Follows a run, and finds out whether it takes too long.
class LeastEnd {
 public:
  explicit LeastEnd(const ReplayWorth& worth);

  /// An execution starts at this time.
  void starts(std::uint32_t action, std::int64_t iteration, double time) {
    not_before(time + worth_.rest.seconds(action, iteration));
  }
  /// A flow is about to begin. `sharing` has the flows that have already begun.
  void begins(const Plan& plan, const Flow& flow, const Sharing& sharing, double now);

  bool too_long() const { return seconds_ >= worth_.seconds; }
  /// Returns a lower bound of the seconds of the run.
  double seconds() const { return seconds_; }

 private:
  void not_before(double time) { seconds_ = time > seconds_ ? time : seconds_; }

  const ReplayWorth& worth_;
  double seconds_ = 0;
  std::vector<double> bytes_;  ///< indexed by link: the bytes of flows that have not begun yet
};

}  // namespace sluice
