// Describes how a network is trained: the optimizer with its state, the element types of gradients and state, and the
// cost of a backward pass. The numbers of an optimizer are per parameter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/catalog.hpp"
#include "base/dtype.hpp"

namespace sluice {

/// An optimizer, with the state and the FLOP of its update per parameter.
struct Optimizer {
  std::string name;
  std::string summary;
  std::string details = {};  ///< a paragraph about its effect, its use and its costs
  std::string source;        ///< paper, section
  std::string example = {};  ///< a complete command
  bool updates = true;       ///< whether weights are updated; if false, gradients are only summed
  int states = 0;            ///< values of state per parameter; a gradient does not count
  int flop = 0;              ///< FLOP per parameter
};

const Catalog<Optimizer>& optimizer_catalog();

struct Training {
  const Optimizer* optimizer = nullptr;
  DType weights = DType::float32;  ///< element type of the weights that the layers read
  DType gradients = DType::float32;
  DType states = DType::float32;  ///< element type of the optimizer's state
  bool master_weights = false;    ///< whether the state includes a copy of the weights
  /// Seconds and FLOP of a backward pass, as a multiple of those of the forward pass. If empty, each layer has its own
  /// multiple.
  std::optional<double> backward = 2;
  bool split_backward = false;  ///< input and weight gradients are separate actions

  /// These functions return the bytes of the gradients and of the optimizer's state that belong to weights of
  /// `weight_bytes` bytes. Both functions throw InputError on overflow.
  std::int64_t gradient_bytes(std::int64_t weight_bytes) const;
  std::int64_t optimizer_bytes(std::int64_t weight_bytes) const;
};

}  // namespace sluice
