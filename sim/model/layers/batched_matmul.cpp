#include <algorithm>

#include "document/key.hpp"
#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

// The layer multiplies pairs of matrices: a matrix [rows, inner] of the first input by a matrix [inner, columns] of the
// second input. In the backward pass, the gradient of each matrix is a product of the other matrix and the output's
// gradient. Each gradient takes as many multiply-accumulates as the forward pass.
LayerCounts infer(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape &a = *inputs[0], &b = *inputs[1];
  const auto refuse = [&](const std::string& expected) {
    keys.fail("inputs", "batched_matmul of " + text_of(a) + " and " + text_of(b) +
                            (keys.boolean("transpose_b") ? " transposed" : "") + ": expected " +
                            expected);
  };
  if (a.size() < 2 || a.size() != b.size())
    refuse("[..., rows, columns] of both inputs, with the same number of axes");
  const std::size_t row = a.size() - 2, column = a.size() - 1;
  const bool transposed = keys.boolean("transpose_b");
  if (a[column] != b[transposed ? column : row])
    refuse("as many rows of the second input as columns of the first");
  if (!std::equal(a.begin(), a.end() - 2, b.begin()))
    refuse("both inputs with the same number of matrices");
  LayerCounts counts;
  counts.shape = a;
  counts.shape[column] = b[transposed ? row : column];
  counts.macs = checked_mul(elements_of(counts.shape), a[column], "multiply-accumulates");
  counts.flop = checked_mul(counts.macs, 2, "FLOP");
  counts.backward = {.input_flop = checked_mul(counts.flop, 2, "FLOP"), .reads_inputs = true};
  return counts;
}

}  // namespace

extern const LayerType batched_matmul_layer = {
    .name = "batched_matmul",
    .summary =
        "Multiplies each matrix of the first input by the matrix of the second input at the same "
        "place. A matrix is the last two axes of an input.",
    .details =
        "The product of a matrix [rows, inner] and a matrix [inner, columns] takes rows x inner x "
        "columns multiply-accumulates of 2 FLOP each. All axes before the last two must be equal "
        "in both inputs. The layer has no parameters. Both inputs have a gradient, so the backward "
        "pass takes twice the FLOP of the forward pass. The backward pass reads both inputs. Use "
        "this layer for products of two activations, but not for attention: the layer `attention` "
        "contains its own products.",
    .source = "definition, as in NumPy's matmul",
    .example =
        "{type: input, name: a, shape: [12, 16, 64]}, {type: input, name: b, shape: [12, 64, 16]}, "
        "{type: batched_matmul, inputs: [a, b]}",
    .parameters = {Key::boolean("transpose_b",
                                "whether the second input has the shape [..., columns, inner]")
                       .by_default("false")},
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = infer,
};

}  // namespace sluice
