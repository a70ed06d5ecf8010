// Assigns the elements of a file's weights to layers as parameters. The first layer that reads a weight owns it: only
// there, the weight's elements count. Later layers share the weight. But a weight with one axis, such as a bias or a
// scale, counts at each layer that reads it. This is because exporters store equal biases, such as zeros, only once,
// although the layers do not share them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/onnx/graph.hpp"
#include "model/onnx/onnx.hpp"
#include "model/onnx/rules.hpp"

namespace sluice::onnx_import {

class Weights {
 public:
  explicit Weights(const Graph& graph) : graph_(graph), owners_(graph.weights.size()) {}

  /// Makes the layer `layer` the owner of the weights `draft.weights`. If another layer owns these weights, `layer`
  /// gets the key `tied` instead. `parameters` is the number of parameters that the layer's type counts. If the weights
  /// have another number of elements, or if `layer` would share only a part of another layer's weights, the function
  /// returns false.
  bool claim(const Node& node, const Draft& draft, std::int64_t parameters, Value& layer);

  /// Makes the layer with the name `layer` the owner of all learned inputs of a node that have no owner yet. The layer
  /// is of the type `operator`. Returns the number of the layer's parameters.
  std::int64_t claim_all(const Node& node, const Draft& draft, const std::string& layer);

  OnnxElements elements() const;

 private:
  struct Owner {
    std::string layer;            ///< the name of the owner; empty if no layer owns the weight
    std::int64_t parameters = 0;  ///< how many parameters the owner has
    bool statistics = false;
  };
  std::vector<std::uint32_t> of_inputs(const Node& node,
                                       const std::vector<std::size_t>& inputs) const;
  bool tie(const Owner& owner, const std::vector<std::uint32_t>& weights, std::int64_t vectors,
           std::int64_t shared, Value& layer) const;
  void claim_statistics(const Node& node, const Draft& draft);

  const Graph& graph_;
  std::vector<Owner> owners_;  ///< indexed by weight
};

}  // namespace sluice::onnx_import
