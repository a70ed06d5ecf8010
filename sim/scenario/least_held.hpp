// Says how many elements a sample must hold while it is inside a block of layers. A set of tensors may separate the
// block's beginning from a result of the block. The smallest such set is a minimum cut, and gives the number (Ford and
// Fulkerson 1956).
#pragma once

#include "model/model.hpp"
#include "stage/stage.hpp"

namespace sluice {

/// Returns the least number of elements that a sample holds while a result of the stage is still missing. A result is
/// the output of the stage's last layer, or a part of the answer. No layer before the stage may be computed again. So
/// on each path of layers from the stage's inputs to the result, a tensor must be held. A sample may still have a
/// tensor from before the stage. Such a sample may hold fewer elements of the stage.
double least_held(const Model& model, const Stage& stage);

}  // namespace sluice
