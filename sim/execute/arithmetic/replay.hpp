// The replay executes a plan by event arithmetic, without SimGrid. It is the second, independent implementation of what
// a plan means, and the judge uses it. If no link is shared and no period is left out, its trace equals that of SimGrid's
// engine to the bit. If a period is left out, later times agree to 1e-12 of the makespan. If a link is shared, all times
// agree to 1e-9 of the makespan (sharing.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "execute/deadlock.hpp"
#include "execute/steady.hpp"
#include "plan/tables.hpp"
#include "trace/span.hpp"

namespace sluice {

struct ReplayOptions {
  /// Every grant is given at once, as if every pool were unlimited; reservations are still counted.
  bool unlimited = false;
  /// Whole periods of a steady state are left out, and the sink repeats them. When this is off,
  /// every action is executed; the times are the same to 1e-12 of the makespan.
  bool jumps = true;
  /// The replay ends as soon as the steady state is seen, because the caller wants only `period`. A sink gets only
  /// spans. It gets the spans of the whole run if the steady state is never seen.
  bool until_period = false;
  /// Called from time to time with the number of executed actions.
  std::function<void(std::int64_t)> progress = {};
};

struct ReplayResult {
  double makespan = 0;              ///< seconds until everything has ended and arrived
  std::vector<std::int64_t> peaks;  ///< bytes, by pool
  /// The greatest sum of level, reservations and own bytes at a grant, in bytes, indexed by pool. A
  /// pool
  /// with this capacity gives exactly the same times. For a shared or unlimited pool it is the peak.
  std::vector<std::int64_t> reserved;
  /// The steady state: after this number of iterations and seconds the state repeats. None: the
  /// steady state was not seen. To see it takes some iterations, and `jumps`.
  std::optional<Jump> period;
  std::optional<Deadlock> blocking;  ///< set when the run stops early; makespan is then that time
};

/// Throws InputError when the plan uses a tensor that is not in its pool, and Interrupted on a signal.
ReplayResult replay(const Plan& plan, const ReplayOptions& options = {});
/// Does the same, and passes all spans and memory events to a sink.
ReplayResult replay(const Plan& plan, Sink& sink, const ReplayOptions& options = {});
/// Does the same for a plan whose tables exist already.
ReplayResult replay(const PlanTables& tables, const ReplayOptions& options = {});
ReplayResult replay(const PlanTables& tables, Sink& sink, const ReplayOptions& options = {});
/// Does the same for a caller that needs only the spans.
using Executed = Span;
ReplayResult replay(const Plan& plan, const std::function<void(const Executed&)>& each);

}  // namespace sluice
