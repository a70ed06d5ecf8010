// The receptive field of a layer: which pixels of the model's input can change one pixel of its
// output. A layer that sees everything has none, nor has what comes after it; where branches join,
// the larger field counts. Pixels of the padding count like others, so a field may be larger than
// the image.
// Source: Araujo, Norris and Sim, Computing receptive fields of convolutional neural networks,
// Distill (2019), equations 2 and 4; the jump is its effective stride.
#pragma once

#include <optional>
#include <vector>

#include "model/catalog.hpp"
#include "model/model.hpp"

namespace sluice {

/// Of a layer that makes `shape` of `inputs`; without inputs, each pixel sees itself. A transposed
/// convolution that would make the jump a fraction has none. Throws InputError on overflow.
std::optional<ReceptiveField> field_of(const Sight& sight, const Shape& shape,
                                       const std::vector<const Layer*>& inputs);

}  // namespace sluice
