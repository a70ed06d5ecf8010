// Which elements of a file's weights are parameters of which layer. A weight counts once, at the
// first layer that reads it; whoever reads it again shares it. A bias or a scale, of one axis, is
// each layer's own: exporters store equal ones once, such as the zeros of a network before
// training.
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

  /// For a layer whose type counts `parameters` elements: those inputs of the draft that the type
  /// counts. Where they are another layer's, `layer` gets the key `tied`. False, and nothing is
  /// claimed, where the counts do not go together.
  bool claim(const Node& node, const Draft& draft, std::int64_t parameters, Value& layer);

  /// For an `operator` of that name: the elements of all learned inputs that no layer has yet.
  std::int64_t claim_all(const Node& node, const Draft& draft, const std::string& layer);

  OnnxElements elements() const;

 private:
  struct Owner {
    std::string layer;            ///< empty: none
    std::int64_t parameters = 0;  ///< of that layer
    bool statistics = false;
  };
  std::vector<std::uint32_t> of_inputs(const Node& node,
                                       const std::vector<std::size_t>& inputs) const;
  bool tie(const Owner& owner, const std::vector<std::uint32_t>& weights, std::int64_t vectors,
           std::int64_t shared, Value& layer) const;
  void claim_statistics(const Node& node, const Draft& draft);

  const Graph& graph_;
  std::vector<Owner> owners_;  ///< of each weight
};

}  // namespace sluice::onnx_import
