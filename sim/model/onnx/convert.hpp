// Converts the graph of an ONNX model to the layers of a sluice-model/1 document. Throws InputError at a faulty node.
// If there is no rule for some operators, a single error names all these operators.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "model/onnx/graph.hpp"
#include "model/onnx/onnx.hpp"

namespace sluice::onnx_import {

struct Converted {
  Value layers;  ///< the list of layers
  OnnxElements elements;
  std::vector<std::string> notes;
};

/// Converts the graph. `as_zero` names the operators that are assumed to cost nothing.
Converted convert(const Graph& graph, const std::unordered_set<std::string>& as_zero);

}  // namespace sluice::onnx_import
