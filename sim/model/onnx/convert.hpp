// Converts the graph of an ONNX model to the layers of a sluice-model/1 document. Throws InputError at the faulty node.
// If operators have no rule, a single error reports all of them.
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

/// Converts the graph. `as_zero` names the operators that count as free: they cost nothing.
Converted convert(const Graph& graph, const std::unordered_set<std::string>& as_zero);

}  // namespace sluice::onnx_import
