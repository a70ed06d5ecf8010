// Says how many elements a sample must hold while it is inside a block of layers. The number is a minimum cut: the
// cheapest set of tensors that separates the block's beginning from a result of the block (Ford and Fulkerson 1956).
#pragma once

#include "model/model.hpp"
#include "stage/stage.hpp"

namespace sluice {

/// Returns the least number of elements that a sample holds while a result of the stage is still missing.
/// No layer before the stage may be computed again. A result is the output of the stage's last layer, or
/// a part of the answer. On each path of layers from the stage's inputs to the result, a tensor must be
/// held. A sample that still has a tensor from before the stage may hold fewer elements of the stage.
double least_held(const Model& model, const Stage& stage);

}  // namespace sluice
