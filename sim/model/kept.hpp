// What the forward pass of some layers keeps for their backward pass. A tensor that several layers
// read is kept once, and a view is the tensor that it is a view of. Counts are per sample; the
// weights are no part of it.
// Source: Korthikanti et al., Reducing activation recomputation in large transformer models (2022),
// section 4.
#pragma once

#include <cstdint>
#include <vector>

#include "base/dtype.hpp"
#include "model/model.hpp"

namespace sluice {

/// Elements that a dtype makes bytes, and bytes that no dtype changes.
struct KeptCount {
  std::int64_t elements = 0, bytes = 0;
  bool operator==(const KeptCount&) const = default;
};

/// For the backward passes of layers first..last. Tensors are named by the layer that makes them.
struct Kept {
  std::vector<std::uint32_t> outside;  ///< tensors made by other layers, ascending
  std::vector<std::uint32_t> inside;   ///< tensors made by these, ascending
  KeptCount own;                       ///< tensors of these layers that are no layer's output
  KeptCount selective;  ///< likewise, but of layers that selective recomputation runs again

  /// All of it. Throws InputError on overflow.
  KeptCount in_all(const Model& model) const;
};

Kept kept_for(const Model& model, std::uint32_t first, std::uint32_t last);

/// Throws InputError on overflow.
std::int64_t bytes_of(const KeptCount& count, DType dtype);

/// The layer whose output a layer's output is, wholly or in part: itself, unless it is a view.
std::uint32_t origin_of(const Model& model, std::uint32_t layer);

/// FLOP of the backward pass of a layer, and of all. Throws InputError on overflow.
std::int64_t backward_flop(const Layer& layer);
std::int64_t backward_flop(const Model& model);

}  // namespace sluice
