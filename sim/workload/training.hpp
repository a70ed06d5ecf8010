// Describes how a network is trained: the optimizer with its state, the element types of gradients and state, and the
// cost of a backward pass. The state values and the FLOP of an optimizer are per parameter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/catalog.hpp"
#include "base/dtype.hpp"

namespace sluice {

/// An optimizer. `states` and `flop` say how much state and work its update needs for each parameter.
struct Optimizer {
  std::string name;
  std::string summary;
  /// A paragraph about the effect, the use and the costs of the optimizer.
  std::string details = {};
  std::string source;        ///< paper, section
  std::string example = {};  ///< a complete command
  bool updates = true;       ///< whether weights are updated; if false, gradients are only summed
  /// The number of state values per parameter. Gradients are not part of the state.
  int states = 0;
  int flop = 0;  ///< FLOP per parameter
};

const Catalog<Optimizer>& optimizer_catalog();

struct Training {
  const Optimizer* optimizer = nullptr;
  DType weights = DType::float32;  ///< the element type of the weights that the layers read
  DType gradients = DType::float32;
  DType states = DType::float32;  ///< the element type of the optimizer's state
  bool master_weights = false;    ///< whether the state includes a copy of the weights
  /// The seconds and FLOP of a backward pass, as a multiple of the forward pass. If there is no value, each layer has
  /// its own multiple.
  std::optional<double> backward = 2;
  /// Whether input gradients and weight gradients are computed by separate actions.
  bool split_backward = false;

  /// These two functions return how many bytes the gradients and the optimizer's state take
  /// for weights of `weight_bytes` bytes. Both functions throw InputError on overflow.
  std::int64_t gradient_bytes(std::int64_t weight_bytes) const;
  std::int64_t optimizer_bytes(std::int64_t weight_bytes) const;
};

}  // namespace sluice
