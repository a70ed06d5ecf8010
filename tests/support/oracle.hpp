// A third, naive executor: it lists every execution of a plan as a separate node and looks at
// all of them repeatedly until nothing changes, moment by moment. It shares no code with the
// tables and the executors that it checks, only what a plan says. No link may be shared. Seconds.
#pragma once

#include <map>
#include <utility>

#include "plan/plan.hpp"

namespace sluice::test {

struct OracleResult {
  struct Times {
    double start = 0, end = 0;
  };
  bool blocked = false;
  double makespan = 0;
  std::map<std::pair<std::uint32_t, std::int64_t>, Times> times;  ///< by (action, iteration)
};

/// `in_order`: a pool of one device grants strictly in listing order, which no executor does.
OracleResult oracle(const Plan& plan, bool in_order = false);

}  // namespace sluice::test
