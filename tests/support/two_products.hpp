// A model with two products in float32. The weights of the products have 10 x 20 and 20 x 5 elements. The input has
// 40 bytes, the tensor between the products has 80 bytes, and the output has 20 bytes. The first weights have 800
// bytes, and the second weights have 400 bytes.
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
