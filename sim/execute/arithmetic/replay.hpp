// Replay: executes a plan as plain event arithmetic, without SimGrid. It is the second, independent
// implementation of a plan's semantics, and the one that judges: where no link is shared its trace
// is the engine's to the bit, where one is every time agrees to 1e-9 of the makespan (sharing.hpp).
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
  /// Every grant is given at once, as if no pool had an end; reservations are counted all the same.
  bool unlimited = false;
  /// In a steady state whole periods are left out, and repeated by the sink. Off: every action is
  /// executed; the times are the same to 1e-12 of the makespan.
  bool jumps = true;
  /// Ends as soon as the steady state is seen: nothing but `period` is asked then. A sink is told
  /// of spans only, and all of them where the steady state is not seen.
  bool until_period = false;
  /// Called now and then with the number of executed actions.
  std::function<void(std::int64_t)> progress = {};
};

struct ReplayResult {
  double makespan = 0;              ///< s until everything has ended and arrived
  std::vector<std::int64_t> peaks;  ///< bytes, by pool
  /// Bytes, by pool: the greatest sum of level, reservations and own bytes that a grant held. With
  /// this as its capacity the plan takes exactly the same times. A shared or unlimited pool: its
  /// peak.
  std::vector<std::int64_t> reserved;
  /// The steady state: after so many iterations of the body, and seconds, all is as it was. None:
  /// it was not seen, which takes some iterations and `jumps`.
  std::optional<Jump> period;
  std::optional<Deadlock> blocking;  ///< set when it cannot go on; makespan is then its time
};

/// Throws InputError where the plan uses what is not there, Interrupted on a signal.
ReplayResult replay(const Plan& plan, const ReplayOptions& options = {});
/// The same, telling a sink all that happens.
ReplayResult replay(const Plan& plan, Sink& sink, const ReplayOptions& options = {});
/// The same where the plan's tables are there already.
ReplayResult replay(const PlanTables& tables, const ReplayOptions& options = {});
ReplayResult replay(const PlanTables& tables, Sink& sink, const ReplayOptions& options = {});
/// The same, for who wants its spans only.
using Executed = Span;
ReplayResult replay(const Plan& plan, const std::function<void(const Executed&)>& each);

}  // namespace sluice
