// Replay: executes a plan as plain event arithmetic, without SimGrid. Exact where no link is
// shared; where one is, each transfer is timed as if it were alone, so that times are lower bounds
// while the verdict on blocking still holds for pools owned by one device (they grant in listing
// order, so whether a plan blocks does not depend on timing).
//
// It is the second, independent implementation of a plan's semantics: every contention-free test
// compares it with the engine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "execute/blocking.hpp"
#include "plan/plan.hpp"

namespace sluice {

struct Executed {
  std::uint32_t action = none;
  std::int64_t iteration = 0;
  double start = 0, end = 0, available = 0;  ///< s
};

struct ReplayResult {
  double makespan = 0;               ///< s until everything has ended and arrived
  bool exact = true;                 ///< no link is shared
  std::vector<std::int64_t> peaks;   ///< bytes, by pool
  std::optional<Blocking> blocking;  ///< set when it cannot go on; makespan is then its time
};

/// Throws InputError where the plan uses what is not there, Interrupted on a signal.
ReplayResult replay(const Plan& plan, const std::function<void(const Executed&)>& observer = {});

}  // namespace sluice
