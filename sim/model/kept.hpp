// Counts the tensors that the forward pass of some layers keeps for their backward pass. If several layers read the
// same tensor, it is kept only once. A view and the tensor that it shows in another shape count as one tensor. Counts
// are per sample and do not include the weights. The counts follow Korthikanti et al., Reducing activation
// recomputation in large transformer models (2022), section 4.
#pragma once

#include <cstdint>
#include <vector>

#include "base/dtype.hpp"
#include "model/model.hpp"

namespace sluice {

/// A number of elements, and a number of bytes in addition. The dtype decides how many bytes an element has. It does
/// not change the additional bytes.
struct KeptCount {
  std::int64_t elements = 0, bytes = 0;
  bool operator==(const KeptCount&) const = default;
};

/// The tensors that are kept for the backward passes of the layers from `first` to `last`. A tensor is identified
/// by the layer that makes it.
struct Kept {
  std::vector<std::uint32_t> outside;  ///< tensors that other layers make, in ascending order
  std::vector<std::uint32_t> inside;   ///< tensors that these layers make, in ascending order
  KeptCount own;        ///< tensors that no layer outputs, except those in `selective`
  KeptCount selective;  ///< tensors that no layer outputs; selective recomputation makes them again

  /// Returns the sum of all tensors: `outside`, `inside`, `own` and `selective`. Throws InputError
  /// on overflow.
  KeptCount in_all(const Model& model) const;
};

Kept kept_for(const Model& model, std::uint32_t first, std::uint32_t last);

/// Returns the bytes of a count. Throws InputError on overflow.
std::int64_t bytes_of(const KeptCount& count, DType dtype);

/// Returns the layer whose output contains this layer's output. For a view, the result is the viewed layer, and for a
/// view of a view, the layer that the other view shows. For any other layer, the result is the layer itself.
std::uint32_t origin_of(const Model& model, std::uint32_t layer);

/// The next two functions return the FLOP of the backward pass, of one layer and of all layers. They throw InputError
/// on overflow.
std::int64_t backward_flop(const Layer& layer);
std::int64_t backward_flop(const Model& model);

}  // namespace sluice
