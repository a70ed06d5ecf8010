// Two products of 10 by 20 and 20 by 5 in float32 as a scenario's model: 40 bytes of input, weights of
// 800 bytes, 80 bytes between the products, weights of 400 bytes, 20 bytes of output.
#pragma once

#include <string>

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

}  // namespace sluice::test
