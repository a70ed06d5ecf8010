// Assigns the elements of a file's weights to layers as parameters. A weight counts once, at the first layer that reads
// it. Any later reader shares it. A weight with one axis (a bias or a scale) counts at each layer that reads it,
// because exporters store equal biases, such as the zeros of a network before training, only once.
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
  /// layer owns these weights, `layer` gets the key `tied`. Returns false without claiming anything if the weights do
  /// not have `parameters` elements.
  bool claim(const Node& node, const Draft& draft, std::int64_t parameters, Value& layer);

  /// Claims all learned inputs that no layer owns yet for the `operator` with the name `layer`. Returns the number of
  /// their elements.
  std::int64_t claim_all(const Node& node, const Draft& draft, const std::string& layer);

  OnnxElements elements() const;

 private:
  struct Owner {
    std::string layer;            ///< the name of the owner; empty if no layer owns the weight
    std::int64_t parameters = 0;  ///< parameters of the owner
    bool statistics = false;
  };
  std::vector<std::uint32_t> of_inputs(const Node& node,
                                       const std::vector<std::size_t>& inputs) const;
  bool tie(const Owner& owner, const std::vector<std::uint32_t>& weights, std::int64_t vectors,
           std::int64_t shared, Value& layer) const;
  void claim_statistics(const Node& node, const Draft& draft);

  const Graph& graph_;
  std::vector<Owner> owners_;  ///< the owner of each weight, by its number
};

}  // namespace sluice::onnx_import
