// Scenarios that train a model of three layers. Their times can be computed by hand. At 1 GFLOP/s, 1e6 FLOP take 1 ms.
// At 1 GB/s, 1 MB takes 1 ms.
#pragma once

#include <catch2/catch.hpp>
#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "metrics/metric.hpp"
#include "plan/text.hpp"
#include "run/isolated.hpp"
#include "scenario/scenario.hpp"
#include "support/small_case.hpp"

namespace sluice::training_case {

using test::Row;
using test::small_scenario;

/// Layers A, B and C compute for 1, 2 and 3 ms. Their weights have 100, 200 and 300 kB (25,000, 50,000 and 75,000
/// parameters). Their outputs have 2, 3 and 1 kB. The input has 1 kB. A backward pass takes twice as long as its
/// forward pass.
inline const std::vector<Row> abc = {{1, 100'000, 2000}, {2, 200'000, 3000}, {3, 300'000, 1000}};

inline const std::string four =
    "workload: {mode: training, batch: 4, micro_batch: 1, optimizer: none}\n";
inline const std::string serial = "policy: {name: resident, overlap: false}\n";
inline const std::string cut = "stages: {cut: per_layer}\n";

inline double makespan_of(const Plan& plan) {
  check(plan);
  const double replayed = replay(plan).makespan;
  const double simulated = execute_isolated(plan).report.makespan;
  CHECK(simulated == Approx(replayed).epsilon(1e-9));
  return simulated;
}

inline double makespan_of(const std::string& extra,
                          const std::vector<std::string>& overrides = {}) {
  return makespan_of(make_plan(small_scenario(1000, abc, extra, overrides)));
}

inline std::int64_t peak_of(const std::string& extra) {
  return replay(make_plan(small_scenario(1000, abc, extra))).peaks.front();
}

inline Approx ms(double value) {
  return Approx(value * 1e-3).epsilon(1e-9);
}

}  // namespace sluice::training_case
