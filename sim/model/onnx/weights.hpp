// Assigns the elements of a file's weights to layers as parameters. A weight counts only at the first layer that
// reads it. Later layers share it. A weight with one axis, such as a bias or a scale, counts at each layer that reads
// it. The reason: exporters store equal biases, for example zeros, only once.
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

  /// Claims the weights of the draft (`draft.weights`) for a layer whose type counts `parameters` elements. If another
  /// layer owns these weights, `layer` gets the key `tied`. If the number of elements of the weights is not
  /// `parameters`, the function returns false and claims nothing.
  bool claim(const Node& node, const Draft& draft, std::int64_t parameters, Value& layer);

  /// Claims the learned inputs of a node for the layer with the name `layer`, which is of the type `operator`. Inputs
  /// that another layer owns are left out. Returns the number of elements that were claimed.
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
