// A model of three layers that compute for 1, 2 and 3 ms at 1 GFLOP/s. The overrides `two_devices` give the platform of
// a test two devices.
#pragma once

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "support/small_case.hpp"

namespace sluice::test {

/// Layers A, B and C compute for 1, 2 and 3 ms. Their weights have 100, 200 and 300 kB. Their outputs have 2, 3 and 1
/// kB. The input has 1 kB.
inline const std::vector<Row> abc = {{1, 100'000, 2000}, {2, 200'000, 3000}, {3, 300'000, 1000}};
inline const std::vector<std::string> two_devices = {
    "platform.devices.gpu.count=2", "platform.links.pair={joins: [gpu0, gpu1], bandwidth: 1GB/s}"};

/// Returns `value` milliseconds as seconds, for comparisons that allow for rounding.
inline Approx ms(double value) {
  return Approx(value * 1e-3).epsilon(1e-9);
}

}  // namespace sluice::test
