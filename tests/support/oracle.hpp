// A naive executor of plans. Tests compare its times with the times of Sluice's two executors. It shares no code or
// tables with the two executors. It makes a node for every execution of an action. At each moment, it looks at all
// nodes again and again until no node changes. It accepts only plans whose transfers share no link. All times are in
// seconds.
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

/// Executes a plan. With `in_order`, a pool that belongs to one device grants its bytes strictly in listing order. In
/// Sluice's executors, the rule of reservation allows exceptions from this order.
OracleResult oracle(const Plan& plan, bool in_order = false);

}  // namespace sluice::test
