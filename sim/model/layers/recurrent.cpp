// Recurrent layers over one sequence [steps, features], or over several sequences side by side [steps, sequences,
// features]. The layers have the parameters of PyTorch's layers with the same names. For each direction, a layer has
// two matrices, each with a bias. One matrix is multiplied by the input of the step. The other matrix is multiplied by
// the hidden values of the previous step. Several layers are stacked: each layer reads the hidden values of the layer
// below it, from both directions if there are two.
#include "base/quantity.hpp"
#include "document/key.hpp"
#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

/// The numbers that differ between `rnn`, `gru` and `lstm`. All numbers are per hidden value and step.
struct Cell {
  std::int64_t gates;  ///< rows of each matrix
  std::int64_t flop;   ///< FLOP that do not belong to products or biases
  std::int64_t kept;   ///< elements kept for the backward pass, in addition to the hidden values
};

// A hidden value of rnn takes 2 FLOP: one to add the two matrix products, and one for tanh.
constexpr Cell elman{1, 1 + 1, 0};
// For a hidden value of gru, two matrix products are added three times, with 1 FLOP each. The gates r and z take a
// sigmoid of 4 FLOP each. The new value is n = tanh(a + r b). Here a is the product with the input, and b is the
// product with the hidden values of the previous step. The product r b takes 1 FLOP, and tanh takes 1 FLOP. The formula
// h = (1 - z) n + z h takes 4 FLOP. A gru keeps r, z, n and b.
constexpr Cell gated{3, 3 + 8 + 2 + 4, 4};
// For a hidden value of lstm, two matrix products are added four times, with 1 FLOP each. The gates i, f and o take a
// sigmoid of 4 FLOP each. The new value g takes a tanh of 1 FLOP. The state c = f c + i g takes 3 FLOP. The formula
// h = o tanh(c) takes 2 FLOP. An lstm keeps i, f, g, o and c.
constexpr Cell long_short{4, 4 + 12 + 1 + 3 + 2, 5};

struct Direction {
  std::int64_t steps;  ///< the number of steps of all sequences together
  std::int64_t in, hidden;
  bool bias;
};

/// Counts one layer in one direction. The backward pass goes through the cells from the last step to the first. The
/// derivatives of a cell's functions are counted like the functions themselves. Each product of a matrix with hidden
/// values or inputs has two gradients: of the matrix and of these values. The gradient of a bias is a sum over the
/// steps. `input_flop` is the FLOP for the gradient of the input of the whole stack. So only the stack's first layer
/// (`first`) adds to it. A run leaves these FLOP out if no earlier layer of the model has weights.
void add_direction(LayerCounts& counts, const Cell& cell, const Direction& of, bool first) {
  const auto add = [](std::int64_t& count, std::int64_t more, const char* what) {
    count = checked_add(count, more, what);
  };
  const std::int64_t rows = checked_mul(cell.gates, of.hidden, "parameters");
  const std::int64_t each = checked_add(of.in, of.hidden, "parameters");
  const std::int64_t weights = checked_mul(rows, each, "parameters");
  const std::int64_t biases = of.bias ? checked_mul(2, rows, "parameters") : 0;
  add(counts.parameters, checked_add(weights, biases, "parameters"), "parameters");
  const std::int64_t macs = checked_mul(of.steps, weights, "multiply-accumulates");
  add(counts.macs, macs, "multiply-accumulates");
  const std::int64_t products = checked_mul(macs, 2, "FLOP");
  const std::int64_t functions =
      checked_mul(of.steps, checked_mul(cell.flop, of.hidden, "FLOP"), "FLOP");
  const std::int64_t shifts = checked_mul(of.steps, biases, "FLOP");
  add(counts.flop, checked_add(products, checked_add(functions, shifts, "FLOP"), "FLOP"), "FLOP");
  // The matrix for the input has `in` columns, and the matrix for the hidden values has `hidden` columns.
  const std::int64_t of_inputs = first ? 2 * of.steps * rows * of.in : 0;
  add(counts.backward.input_flop, of_inputs, "FLOP");
  add(counts.backward.weight_flop, products - of_inputs, "FLOP");
  add(counts.backward.weight_flop, products, "FLOP");
  add(counts.backward.weight_flop, checked_add(functions, shifts, "FLOP"), "FLOP");
}

template <const Cell& cell>
LayerCounts infer(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape& input = *inputs[0];
  if (input.size() != 2 && input.size() != 3)
    keys.fail("type", keys.text("type") + " needs an input of [steps, features] or [steps, " +
                          "sequences, features], got " + text_of(input));
  const std::int64_t hidden = keys.integer("hidden"), layers = keys.integer("layers");
  const std::int64_t directions = keys.boolean("bidirectional") ? 2 : 1;
  const std::int64_t width = checked_mul(hidden, directions, "elements");
  LayerCounts counts;
  counts.shape = input;
  counts.shape.back() = width;
  const std::int64_t steps = elements_of(Shape(input.begin(), input.end() - 1));
  for (std::int64_t l = 0; l < layers; ++l)
    for (std::int64_t d = 0; d < directions; ++d)
      add_direction(counts, cell,
                    {steps, l == 0 ? input.back() : width, hidden, keys.boolean("bias")}, l == 0);
  counts.backward.reads_inputs = counts.backward.reads_output = true;
  // The backward pass needs the values inside the cells of each layer, and the hidden values of all layers. The hidden
  // values of the last layer are not counted here, because they are the output.
  const std::int64_t values = elements_of(counts.shape);
  counts.backward.kept = checked_mul(
      values, checked_add(checked_mul(layers, cell.kept, "elements"), layers - 1, "elements"),
      "elements");
  return counts;
}

std::vector<Field> parameters() {
  return {
      Key::integer("hidden", "the number of hidden values of a layer in one direction").at_least(1),
      Key::integer("layers", "the number of stacked layers").by_default("1").between(1, 1e4),
      Key::boolean("bidirectional", "whether each layer also goes over the sequence backwards")
          .by_default("false"),
      Key::boolean("bias", "whether each row of each matrix has a bias, which is one parameter")
          .by_default("true")};
}

}  // namespace

extern const LayerType rnn_layer, gru_layer, lstm_layer;

const LayerType rnn_layer = {
    .name = "rnn",
    .summary =
        "Computes the hidden values h' = tanh(W x + U h) of a recurrent network at each step. In addition to the "
        "products, the layer takes 2 FLOP per hidden value.",
    .details =
        "Each layer has hidden x (inputs + hidden) weights in each direction, for its single gate. A bias adds 2 "
        "parameters per gate and hidden value. Each weight takes one multiply-accumulate per step. Use `rnn` for short "
        "sequences. The layers `gru` and `lstm` remember values for more steps than `rnn`. The backward pass takes "
        "twice the multiply-accumulates of the forward pass. Its other operations take as many FLOP as in the forward "
        "pass. The backward pass reads input and output. A single layer keeps nothing else. A stack of layers also "
        "keeps the hidden values of all layers except the last one.",
    .source = "Elman, Finding structure in time (1990); parameters as torch.nn.RNN",
    .example = "{type: input, shape: [100, 32]}, {type: rnn, hidden: 64}",
    .parameters = parameters(),
    .infer = infer<elman>,
};

const LayerType gru_layer = {
    .name = "gru",
    .summary =
        "Computes the hidden values of gated recurrent units at each step. In addition to the products, the layer "
        "takes 17 FLOP per hidden value.",
    .details =
        "Each layer has 3 x hidden x (inputs + hidden) weights in each direction, for its 3 gates. A bias adds 2 "
        "parameters per gate and hidden value. Each weight takes one multiply-accumulate per step. Let r and z be two "
        "gates and n the new value. A step computes h' = (1 - z) n + z h. The backward pass takes twice the "
        "multiply-accumulates of the forward pass. Its other operations take as many FLOP as in the forward pass. The "
        "backward pass reads input and output. For each hidden value, training also keeps 4 elements per step. A stack "
        "of layers also keeps the hidden values of all layers except the last one.",
    .source =
        "Cho et al., Learning phrase representations using RNN encoder-decoder (2014), section "
        "2.3; equations and parameters as torch.nn.GRU",
    .example = "{type: input, shape: [100, 32]}, {type: gru, hidden: 64, bidirectional: true}",
    .parameters = parameters(),
    .infer = infer<gated>,
};

const LayerType lstm_layer = {
    .name = "lstm",
    .summary =
        "Computes the hidden values of a long short-term memory at each step. In addition to the products, the layer "
        "takes 22 FLOP per hidden value.",
    .details =
        "Each layer has 4 x hidden x (inputs + hidden) weights in each direction, for its 4 gates. A bias adds 2 "
        "parameters per gate and hidden value. Each weight takes one multiply-accumulate per step. Let i, f and o be "
        "three gates and g the new value. A step computes c' = f c + i g and h' = o tanh(c'). The backward pass takes "
        "twice the multiply-accumulates of the forward pass. Its other operations take as many FLOP as in the forward "
        "pass. The backward pass reads input and output. For each hidden value, training also keeps 5 elements per "
        "step: i, f, g, o and c. A stack of layers also keeps the hidden values of all layers except the last one.",
    .source =
        "Hochreiter and Schmidhuber, Long short-term memory (1997); Gers, Schmidhuber and Cummins, "
        "Learning to forget (2000); equations and parameters as torch.nn.LSTM",
    .example = "{type: input, shape: [100, 32]}, {type: lstm, hidden: 64, layers: 2}",
    .parameters = parameters(),
    .infer = infer<long_short>,
};

}  // namespace sluice
