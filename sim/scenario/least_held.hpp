// Says how many elements a sample must hold while it is inside a block of layers. The number is a minimum cut: the cheapest
// set of tensors that separates the beginning of the block from a result of the block (Ford and Fulkerson 1956).
#pragma once

#include "model/model.hpp"
#include "stage/stage.hpp"

namespace sluice {

/// Returns the least number of elements that a sample holds when some result of the stage has not been computed yet,
/// and no layer before the stage is computed again. A result is the output of the stage's last layer, or a part of the
/// answer. Each path of layers from the stage's inputs to the result then has a tensor that is held. A tensor before
/// the stage is not counted: a sample that still holds it is not limited by this number.
double least_held(const Model& model, const Stage& stage);

}  // namespace sluice
