// Finds out which elements of an ONNX file are parameters. They are elements of initialisers, and of constants that
// nodes make. Nodes may compute constants from constants, and the elements are followed through such nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/onnx/graph.hpp"

namespace sluice::onnx_import {

class WeightOrigins {
 public:
  explicit WeightOrigins(Graph& graph) : graph_(graph) {}

  /// Throws InputError on a negative extent and on overflow.
  std::int64_t elements_of(const Shape& shape) const;

  /// Adds a weight to the graph and returns its number.
  std::uint32_t add(std::int64_t elements, bool initialiser, bool vector);

  /// Records of which weights the constant outputs of a node are made. An output that is made of no weight becomes a
  /// weight itself.
  void set(const Node& node, std::vector<Tensor>& outputs);

 private:
  std::vector<std::string> factors_of(const Node& node);

  Graph& graph_;
};

}  // namespace sluice::onnx_import
