// Recurrent layers over a sequence [steps, features], or several side by side, [steps, sequences,
// features]; with the parameters of their namesakes in PyTorch: for each layer and direction a
// matrix over the step's input, one over the hidden values of the step before, and a bias of each.
// A layer reads those of the one before in all directions.
#include "base/quantity.hpp"
#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

/// What tells the types apart, for each hidden value and step.
struct Cell {
  std::int64_t gates;  ///< rows of the matrices
  std::int64_t flop;   ///< beside products and biases
  std::int64_t kept;   ///< elements for the backward pass, beside the hidden values themselves
};

// rnn: the sum of both products, tanh.
constexpr Cell elman{1, 1 + 1, 0};
// gru: three sums of products; two sigmoids of 4 FLOP; n = tanh(a + r b): 2 beside its sum, which
// is made after the product with r; h = (1 - z) n + z h: 4. Kept: r, z, n and b.
constexpr Cell gated{3, 3 + 8 + 2 + 4, 4};
// lstm: four sums of products; three sigmoids of 4 FLOP and a tanh; c = f c + i g: 3; h = o
// tanh(c):
// 2. Kept: i, f, g, o and c.
constexpr Cell long_short{4, 4 + 12 + 1 + 3 + 2, 5};

struct Direction {
  std::int64_t steps;  ///< of all sequences
  std::int64_t in, hidden;
  bool bias;
};

/// Adds one layer in one direction. Backward, the gradients go through the cells from the last step
/// to the first: their functions have derivatives of about their own cost, each product with the
/// hidden values or the inputs has two gradients, and a bias's is summed over the steps. Only that
/// of the first layer's inputs is an input's, and left out where nothing before learns.
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
  // At most what has just been added: rows x in of rows x (in + hidden).
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
  // Of each layer what its cells keep; of all but the last the hidden values, too.
  const std::int64_t values = elements_of(counts.shape);
  counts.backward.kept = checked_mul(
      values, checked_add(checked_mul(layers, cell.kept, "elements"), layers - 1, "elements"),
      "elements");
  return counts;
}

std::vector<Field> parameters() {
  return {{.name = "hidden",
           .type = Type::integer,
           .summary = "hidden values of a layer in one direction",
           .minimum = 1},
          {.name = "layers",
           .type = Type::integer,
           .summary = "layers on top of each other",
           .default_text = "1",
           .minimum = 1,
           .maximum = 1e4},
          {.name = "bidirectional",
           .type = Type::boolean,
           .summary = "whether each layer goes over the sequence backwards as well",
           .default_text = "false"},
          {.name = "bias",
           .type = Type::boolean,
           .summary = "two parameters for each row of the matrices, one a matrix",
           .default_text = "true"}};
}

}  // namespace

extern const LayerType rnn_layer, gru_layer, lstm_layer;

const LayerType rnn_layer = {
    .name = "rnn",
    .summary =
        "A recurrent network, h' = tanh(W x + U h): its hidden values at each step; beside the "
        "products 2 FLOP a value.",
    .source = "Elman, Finding structure in time (1990); parameters as torch.nn.RNN",
    .parameters = parameters(),
    .infer = infer<elman>,
};

const LayerType gru_layer = {
    .name = "gru",
    .summary =
        "Gated recurrent units: their hidden values at each step; beside the products 17 FLOP a "
        "value.",
    .source =
        "Cho et al., Learning phrase representations using RNN encoder-decoder (2014), section "
        "2.3; equations and parameters as torch.nn.GRU",
    .parameters = parameters(),
    .infer = infer<gated>,
};

const LayerType lstm_layer = {
    .name = "lstm",
    .summary =
        "Long short-term memory: its hidden values at each step; beside the products 22 FLOP a "
        "value.",
    .source =
        "Hochreiter and Schmidhuber, Long short-term memory (1997); Gers, Schmidhuber and Cummins, "
        "Learning to forget (2000); equations and parameters as torch.nn.LSTM",
    .parameters = parameters(),
    .infer = infer<long_short>,
};

}  // namespace sluice
