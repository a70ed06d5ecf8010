// A partial layer is a part of a layer, with a share of its output and its weights. This file splits layers into such
// parts.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model.hpp"

namespace sluice {

/// `parts` says for each layer how many parts it becomes, 1 or more. Every count of a layer is divided as evenly as
/// integers allow, so that the parts add up to it. Each part reads all of the layer's inputs, and a layer that reads
/// the split layer reads all its parts. The parts of a layer "15-Full" are called "15-Fulla", "15-Fullb", and so on. If
/// there are more than 26 parts, they are called "15-Full.1", "15-Full.2", and so on.
///
/// Layers that share weights must have equally many parts (`split_alike`), and part i of each layer has part i of the
/// weights. So an embedding table is divided by rows. A part of the embedding looks up the words of its rows. It is
/// assumed that each part looks up equally many words per sample. A part of the product that shares the table gives the
/// scores of its rows.
Model split_layers(const Model& model, const std::vector<std::int64_t>& parts);

/// Returns the numbers of parts, changed so that layers that share weights all have the largest of their numbers.
std::vector<std::int64_t> split_alike(const Model& model, std::vector<std::int64_t> parts);

}  // namespace sluice
