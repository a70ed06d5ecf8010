// What rehearsals have found out about choices on one machine. It does not depend on the capacity of the device's memory.
// So requests that differ only in this capacity may share it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "planning/streaming/groups.hpp"

namespace sluice {

/// The run of a choice. A value is empty until it is known.
struct RehearsedRun {
  std::optional<std::int64_t> used;  ///< as in RehearsedOrder
  double alone_s = 0;  ///< Rehearsal::seconds() of this order of loads; known if `used` is known
  /// The seconds of a replay of the plan, if copies slow each other down.
  std::optional<double> replayed_s;
};

class RehearsedRuns {
 public:
  RehearsedRun& of(const StreamedChoice& choice) { return runs_[choice]; }
  /// Returns the seconds of the plan whose actions may wait for memory, and that stays within `room` bytes
  /// (waiting_ways.hpp). `make` computes them if they are not known yet.
  template <class Make>
  double waiting(const StreamedChoice& choice, std::int64_t room, const Make& make) {
    const auto known = waiting_.find({choice, room});
    if (known != waiting_.end()) return known->second;
    return waiting_[{choice, room}] = make();
  }

 private:
  std::map<StreamedChoice, RehearsedRun> runs_;
  std::map<std::pair<StreamedChoice, std::int64_t>, double> waiting_;
};

}  // namespace sluice
