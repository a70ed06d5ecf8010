// The receptive field of a layer: the pixels of the model's input that can change one pixel of the layer's output. A
// layer that depends on the whole input has no field. The layers after such a layer have no field either. If a layer
// joins branches, its field along each axis is the largest field of the branches. Pixels of the padding count, too. So
// a field may be larger than the image. The formulas are equations 2 and 4 of Araujo, Norris and Sim, Computing
// receptive fields of convolutional neural networks, Distill (2019). The paper's "effective stride" is called jump here
// (see ReceptiveField).
#pragma once

#include <optional>
#include <vector>

#include "model/catalog.hpp"
#include "model/model.hpp"

namespace sluice {

/// Returns the field of a layer that computes an output of `shape` from `inputs`. A layer without inputs is an input of
/// the model, and each of its pixels depends only on itself. If the jump of a transposed convolution would be a
/// fraction, returns no field. Throws InputError on overflow.
std::optional<ReceptiveField> field_of(const InputDependence& dependence, const Shape& shape,
                                       const std::vector<const Layer*>& inputs);

}  // namespace sluice
