#include "model/onnx/rules.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "model/layers/shape.hpp"

namespace sluice::onnx_import {
namespace {

using enum Axes;

const OpRule table[] = {
    // The columns are: the operator, its effect on the axes, the function that makes the draft of a layer, the FLOP per
    // element, and a word. The word is a layer type, or says which tensors the backward pass reads.
    {"Conv", image, convolution},
    {"ConvTranspose", image, transposed_convolution},
    {"MaxPool", image, pool, 1, "max_pool"},
    {"AveragePool", image, pool, 1, "avg_pool"},
    {"LpPool", image, pool, 2},
    {"GlobalAveragePool", image, global_pool, 1, "global_avg_pool"},
    {"GlobalMaxPool", image, global_pool, 1},
    {"GlobalLpPool", image, global_pool, 2},

    {"Gemm", changed, gemm},
    {"MatMul", changed, matmul},
    {"Einsum", changed, einsum},

    {"BatchNormalization", image, batch_norm},
    {"LayerNormalization", kept, layer_norm},
    {"InstanceNormalization", image, instance_norm},
    {"GroupNormalization", image, group_norm},
    {"LRN", image, lrn},

    {"RNN", changed, recurrent, 1, "rnn"},
    {"GRU", changed, recurrent, 3, "gru"},
    {"LSTM", changed, recurrent, 4, "lstm"},

    {"Relu", kept, as_type, 0, "relu"},
    {"LeakyRelu", kept, as_type, 0, "leaky_relu"},
    {"Sigmoid", kept, as_type, 0, "sigmoid"},
    {"Tanh", kept, as_type, 0, "tanh"},
    {"Gelu", kept, as_type, 0, "gelu"},
    {"Softmax", kept, as_type, 0, "softmax"},
    {"HardSigmoid", kept, as_type, 0, "hardsigmoid"},
    {"HardSwish", kept, as_type, 0, "hardswish"},
    {"Dropout", kept, dropout},
    {"Clip", kept, clip},

    {"Add", kept, joined, 1, "add"},
    {"Sum", kept, joined, 1, "add"},
    {"Mul", kept, joined, 1, "mul"},
    {"Sub", kept, elementwise, 1, "nothing"},
    {"Neg", kept, elementwise, 1, "nothing"},
    {"Mean", kept, elementwise, 2, "nothing"},
    {"Div", kept, quotient, 1},
    {"Mod", kept, elementwise, 1, "nothing"},
    {"Pow", kept, elementwise, 1, "inputs"},
    {"Min", kept, elementwise, 1, "inputs"},
    {"Max", kept, elementwise, 1, "inputs"},
    {"Abs", kept, elementwise, 1, "inputs"},
    {"Sqrt", kept, elementwise, 1, "output"},
    {"Reciprocal", kept, elementwise, 1, "output"},
    {"Exp", kept, elementwise, 1, "output"},
    {"Log", kept, elementwise, 1, "inputs"},
    {"Erf", kept, elementwise, 1, "inputs"},
    {"Sin", kept, elementwise, 1, "inputs"},
    {"Cos", kept, elementwise, 1, "inputs"},
    {"Tan", kept, elementwise, 1, "inputs"},
    {"Atan", kept, elementwise, 1, "inputs"},
    {"Floor", kept, elementwise, 1, "nothing"},
    {"Ceil", kept, elementwise, 1, "nothing"},
    {"Round", kept, elementwise, 1, "nothing"},
    {"Sign", kept, elementwise, 1, "nothing"},
    {"PRelu", kept, elementwise, 2, "inputs"},
    {"Elu", kept, elementwise, 4, "output"},       // compare, exp, subtract, multiply
    {"Celu", kept, elementwise, 5, "output"},      // compare, exp, subtract, multiply, divide
    {"Selu", kept, elementwise, 5, "output"},      // compare, exp, subtract, two multiplications
    {"Softplus", kept, elementwise, 3, "inputs"},  // exp, add, log
    {"Softsign", kept, elementwise, 3, "inputs"},  // abs, add, divide
    {"Mish", kept, elementwise, 5, "inputs"},      // softplus, tanh, multiply
    {"ThresholdedRelu", kept, elementwise, 1, "inputs"},
    {"LogSoftmax", kept, elementwise, 6, "output"},  // softmax, log
    {"CumSum", kept, elementwise, 1, "nothing"},
    {"Equal", kept, elementwise, 1, "nothing"},
    {"Less", kept, elementwise, 1, "nothing"},
    {"LessOrEqual", kept, elementwise, 1, "nothing"},
    {"Greater", kept, elementwise, 1, "nothing"},
    {"GreaterOrEqual", kept, elementwise, 1, "nothing"},
    {"And", kept, elementwise, 1, "nothing"},
    {"Or", kept, elementwise, 1, "nothing"},
    {"Xor", kept, elementwise, 1, "nothing"},
    {"Not", kept, elementwise, 1, "nothing"},
    {"IsNaN", kept, elementwise, 1, "nothing"},
    {"IsInf", kept, elementwise, 1, "nothing"},
    {"Where", kept, chosen, 1, "nothing"},
    {"QuantizeLinear", kept, quantised, 3, "nothing"},    // divide, round, clamp
    {"DequantizeLinear", kept, quantised, 2, "nothing"},  // subtract, multiply

    {"ReduceMean", kept, reduction, 1, "nothing"},
    {"ReduceSum", kept, reduction, 1, "nothing"},
    {"ReduceMax", kept, reduction, 1, "inputs"},
    {"ReduceMin", kept, reduction, 1, "inputs"},
    {"ReduceProd", kept, reduction, 1, "inputs"},
    {"ReduceL1", kept, reduction, 2, "inputs"},
    {"ReduceL2", kept, reduction, 2, "inputs"},
    {"ReduceSumSquare", kept, reduction, 2, "inputs"},
    {"ReduceLogSum", kept, reduction, 1, "inputs"},
    {"ReduceLogSumExp", kept, reduction, 2, "inputs"},
    {"ArgMax", kept, reduction, 1, "nothing"},
    {"ArgMin", kept, reduction, 1, "nothing"},
    {"TopK", kept, top_k},

    {"Identity", kept, alias},
    {"Cast", kept, moved},
    {"CastLike", kept, moved},
    {"Concat", kept, concat},
    {"Split", kept, split},
    {"Slice", kept, slice},
    {"Pad", kept, enlarged},
    {"Tile", kept, enlarged},
    {"Expand", kept, enlarged},
    {"Trilu", kept, moved},
    {"Resize", kept, resized},
    {"Upsample", kept, resized},
    {"DepthToSpace", image, moved},
    {"SpaceToDepth", image, moved},
    {"Transpose", changed, transposed},
    {"Flatten", changed, reshaped},
    {"Reshape", changed, reshaped},
    {"Squeeze", changed, reshaped},
    {"Unsqueeze", changed, reshaped},
    {"Gather", changed, gather},
    {"GatherElements", changed, moved},
    {"GatherND", changed, moved},
    {"ScatterElements", kept, moved},
    {"ScatterND", kept, moved},
};

}  // namespace

const OpRule* rule_of(const Node& node) {
  static const auto rules = [] {
    std::unordered_map<std::string_view, const OpRule*> all;
    for (const OpRule& rule : table) all.emplace(rule.op, &rule);
    return all;
  }();
  const auto found = rules.find(node.op);
  return node.known && found != rules.end() ? found->second : nullptr;
}

bool Drafting::is_data(std::size_t input) const {
  return node.has_input(input) && graph.is_data(node.inputs[input]);
}

bool Drafting::is_constant(std::size_t input) const {
  return node.has_input(input) && !graph.is_data(node.inputs[input]);
}

bool Drafting::is_learned(std::size_t input) const {
  const Tensor* tensor = is_constant(input) ? graph.find(node.inputs[input]) : nullptr;
  return tensor &&
         std::any_of(tensor->weights.begin(), tensor->weights.end(),
                     [&](std::uint32_t weight) { return graph.weights[weight].learned(); });
}

const Shape& Drafting::shape(std::size_t input) const {
  if (!node.has_input(input)) fail("input " + std::to_string(input) + " is missing");
  return known_shape(graph, node, node.inputs[input]);
}

Sample Drafting::sample(const std::string& tensor) const {
  return sample_of(graph, node, known_shape(graph, node, tensor), images.count(tensor) != 0);
}

std::optional<std::int64_t> Drafting::axis(const std::string& tensor, std::int64_t axis) const {
  const auto rank = static_cast<std::int64_t>(known_shape(graph, node, tensor).size());
  const std::vector<std::size_t> axes = sample(tensor).axes;
  const auto wanted = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  const auto found = std::find(axes.begin(), axes.end(), wanted);
  if (found == axes.end()) return std::nullopt;
  return found - axes.begin();
}

bool Drafting::is_batched(const std::string& tensor) const {
  const std::vector<std::size_t> axes = sample(tensor).axes;
  return axes.size() + 1 == known_shape(graph, node, tensor).size() &&
         std::find(axes.begin(), axes.end(), std::size_t{0}) == axes.end();
}

void Drafting::require(bool condition, const std::string& message) const {
  if (!condition) fail(message);
}

void Drafting::require_elements(std::size_t input, std::int64_t count, const char* what) const {
  if (!node.has_input(input)) return;
  const std::int64_t elements = elements_of(shape(input));
  require(elements == count, "'" + clean(node.inputs[input]) + "' has " + std::to_string(elements) +
                                 " elements, expected one for each of " + "the " +
                                 std::to_string(count) + " " + what);
}

void Drafting::fail(const std::string& message) const {
  graph.fail(node, node.op + ": " + message);
}

const Shape& known_shape(const Graph& graph, const Node& node, const std::string& tensor) {
  const Tensor* found = graph.find(tensor);
  if (found && found->shape) return *found->shape;
  constexpr std::int64_t newest = 17;  // the newest opset that libonnx 1.12 knows
  std::string why = node.fault.empty() ? "" : ": " + clean(node.fault);
  if (graph.opset > newest)
    why += " (the file uses opset " + std::to_string(graph.opset) + ", newer than opset " +
           std::to_string(newest) + ", the newest that is known here)";
  graph.fail(node, "the shape of '" + clean(tensor) +
                       "' is not known: it is neither in the file nor can it be inferred" + why +
                       "; give the shape, including the batch, such as shapes={" + clean(tensor) +
                       ": [1, 128]}");
}

}  // namespace sluice::onnx_import
