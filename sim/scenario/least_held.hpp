// Says how many elements a sample must hold while it is inside a block of layers. On each path of layers from the
// beginning of the block to a result of the block, the sample must hold a tensor. The smallest set of tensors with this
// property is a minimum cut (Ford and Fulkerson 1956).
#pragma once

#include "model/model.hpp"
#include "stage/stage.hpp"

namespace sluice {

/// Returns the least number of elements that a sample holds while a result of the stage is still missing. A result is
/// the output of the stage's last layer, or a part of the answer. The number assumes that no layer before the stage is
/// computed again. So on each path of layers from the stage's inputs to the result, a tensor must be held. The number
/// also assumes that the sample no longer has the tensors from before the stage: with them, it might hold fewer
/// elements of the stage.
double least_held(const Model& model, const Stage& stage);

}  // namespace sluice
