#include "model/layers/product.hpp"

#include <algorithm>
#include <cmath>

#include "base/quantity.hpp"
#include "document/key.hpp"
#include "model/layers/shape.hpp"

namespace sluice {

Field sparsity_field() {
  return Key::number(
             "sparsity",
             "the share of zeros among the weights. Zeros are neither stored nor multiplied")
      .by_default("0")
      .at_most(1);
}

void count_product(LayerCounts& counts, const Reader& keys, std::int64_t weights,
                   std::int64_t meets) {
  counts.sparsity = keys.number("sparsity");
  // A double holds each whole number up to 2^53 exactly. A larger number of weights may be rounded up. Then the number
  // of zeros could exceed the number of weights. So the number of zeros is limited to the number of weights.
  const std::int64_t zeros = std::llround(counts.sparsity * static_cast<double>(weights));
  const std::int64_t stored = weights - std::min(zeros, weights);
  counts.parameters = stored;
  counts.macs = checked_mul(meets, stored, "multiply-accumulates");
  counts.flop = checked_mul(counts.macs, 2, "FLOP");
  counts.backward = {.input_flop = counts.flop, .weight_flop = counts.flop, .reads_inputs = true};
  if (keys.boolean("bias")) {
    const std::int64_t outputs = elements_of(counts.shape);
    counts.parameters = checked_add(counts.parameters, counts.shape.back(), "parameters");
    counts.flop = checked_add(counts.flop, outputs, "FLOP");
    counts.backward.weight_flop = checked_add(counts.backward.weight_flop, outputs, "FLOP");
  }
}

}  // namespace sluice
