// How a network is trained: the optimizer with its state, the element types of gradients and state,
// and the cost of a backward pass. Bytes and FLOP are per parameter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/catalog.hpp"
#include "base/dtype.hpp"

namespace sluice {

/// What an update reads, writes and computes for one parameter.
struct Optimizer {
  std::string name;
  std::string summary;
  std::string details = {};  ///< a paragraph: what it does, when to use it, what it costs
  std::string source;        ///< paper, section
  std::string example = {};  ///< a command that runs as it is
  bool updates = true;       ///< whether weights are updated; if false, gradients are only summed
  int states = 0;            ///< values kept per parameter, beside its gradient
  int flop = 0;              ///< FLOP per parameter
};

const Catalog<Optimizer>& optimizer_catalog();

struct Training {
  const Optimizer* optimizer = nullptr;
  DType weights = DType::float32;  ///< element type of the weights that the layers read
  DType gradients = DType::float32;
  DType states = DType::float32;  ///< element type of the optimizer's state
  bool master_weights = false;    ///< the optimizer also keeps a copy of the weights in `states`
  /// Seconds and FLOP of a backward pass as a multiple of the forward pass. If empty, each layer
  /// has its own.
  std::optional<double> backward = 2;
  bool split_backward = false;  ///< input gradient and weight gradient are two actions

  /// Bytes that belong to weights of `weight_bytes` bytes. Both functions throw InputError on overflow.
  std::int64_t gradient_bytes(std::int64_t weight_bytes) const;
  std::int64_t optimizer_bytes(std::int64_t weight_bytes) const;
};

}  // namespace sluice
