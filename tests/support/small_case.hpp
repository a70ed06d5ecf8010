// Makes small scenarios on a machine of 1 GFLOP/s and 1 GB/s, so that their times are easy to compute by hand.
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace sluice::test {

/// One layer of a stage table. The milliseconds and the bytes of the output are for one sample.
struct Row {
  double compute_ms;          ///< 1e6 FLOP take 1 ms at 1 GFLOP/s
  std::int64_t weight_bytes;  ///< 1 kB takes 1 us at 1 GB/s
  std::int64_t output_bytes;
};

/// Returns a scenario with one device 'gpu' behind the link 'host'. Its model has an input of `input_bytes`, and then a
/// layer for each row. `extra` is YAML: the keys of the scenario besides the model and the platform, such as `policy`,
/// `workload` and `stages`. `overrides` are overrides as on a command line. All bytes must be multiples of 4.
Scenario small_scenario(std::int64_t input_bytes, const std::vector<Row>& rows,
                        const std::string& extra, const std::vector<std::string>& overrides = {});

}  // namespace sluice::test
