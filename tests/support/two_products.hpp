// A model with two products in float32. The weights of the products have 10 x 20 and 20 x 5 elements. The input has
// 40 bytes, the tensor between the products has 80 bytes, and the output has 20 bytes. The first weights have 800
// bytes, and the second weights have 400 bytes.
#pragma once

#include <string>

#include "document/load.hpp"
#include "scenario/scenario.hpp"

namespace sluice::test {

/// The beginning of a scenario's text, up to its model.
inline const std::string two_products_model = R"(format: sluice-scenario/1
model:
  definition:
    format: sluice-model/1
    name: two
    layers:
    - {type: input, name: image, shape: [10]}
    - {type: dense, name: one, features: 20, bias: false}
    - {type: dense, name: two, features: 5, bias: false}
)";

/// Returns a scenario with the two products on a processor with DRAM and PMEM, which is also the host memory. DRAM is
/// read and written at 100 byte/s, and PMEM at 10 byte/s. `dram` is the capacity of DRAM, and `copy` is the bandwidth
/// of copies. The FLOP take nearly no time. `more` has the other keys of the scenario.
inline Scenario on_server(const std::string& more, const std::string& dram = "4000B",
                          const std::string& copy = "2B/s") {
  return read_scenario(parse_text(two_products_model + R"(platform:
  format: sluice-platform/1
  name: server
  devices:
    cpu: {rate: {float32: 1000TFLOP/s}, memory: [dram, pmem]}
  memories:
    dram: {capacity: )" + dram + R"(, bandwidth: 100B/s}
    pmem: {capacity: 40000B, bandwidth: 10B/s}
  links:
    copy: {joins: [dram, pmem], bandwidth: )" +
                                      copy + "}\n" + more,
                                  "two.yaml"),
                       "two");
}

}  // namespace sluice::test
