// Partial layers: a layer as several, each with its share of the output and of the weights.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model.hpp"

namespace sluice {

/// `parts`: by layer, 1 or more. Every count of a layer is divided as evenly as integers can be, so
/// that the parts add up to it; each part reads all of the layer's inputs, and whatever reads the
/// layer reads all parts. Named "15-Fulla", "15-Fullb", …; "15-Full.1", … beyond 26.
Model split_layers(const Model& model, const std::vector<std::int64_t>& parts);

}  // namespace sluice
