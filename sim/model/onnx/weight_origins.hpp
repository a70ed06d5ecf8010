// Finds out from which weights of an ONNX file each constant is made. A weight is an initialiser, or a constant that a
// node without inputs makes. A node may compute a constant from other constants. Then this constant is made from the
// weights of the other constants.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/onnx/graph.hpp"

namespace sluice::onnx_import {

class WeightOrigins {
 public:
  explicit WeightOrigins(Graph& graph) : graph_(graph) {}

  /// Returns the number of elements of a tensor with the shape `shape`. Throws InputError on a negative extent and on
  /// overflow.
  std::int64_t elements_of(const Shape& shape) const;

  /// Adds a weight to the graph and returns the index of the weight.
  std::uint32_t add(const Weight& weight);

  /// Records from which weights each output of a node is made. The outputs must be constants. A floating-point output
  /// that is made from no weights becomes a weight itself, if the node is a Constant or a ConstantOfShape, or if the
  /// elements of the output are not known.
  void set(const Node& node, std::vector<Tensor>& outputs);

 private:
  std::vector<std::string> factors_of(const Node& node);

  Graph& graph_;
};

}  // namespace sluice::onnx_import
