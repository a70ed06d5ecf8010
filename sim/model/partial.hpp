// Partial layers: a layer is split into several, each with a share of the output and the weights.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model.hpp"

namespace sluice {

/// `parts` says for each layer how many parts it becomes, 1 or more. Every count of a layer is
/// divided as evenly as integers allow, so that the parts add up to it. Each part reads all of the
/// layer's inputs, and whatever reads the layer reads all parts. Parts are called "15-Fulla",
/// "15-Fullb", …, and "15-Full.1", … where there are more than 26.
///
/// Layers that share weights must have equally many parts (`split_alike`); part i of each has part
/// i of the weights. A table of words is thus divided by rows: a part of the embedding looks up the
/// words of its rows (assumed: equally many words of a sample per part), and a part of the product
/// that shares the table gives the scores of its rows.
Model split_layers(const Model& model, const std::vector<std::int64_t>& parts);

/// The same numbers of parts, but layers that share weights all get the largest number among them.
std::vector<std::int64_t> split_alike(const Model& model, std::vector<std::int64_t> parts);

}  // namespace sluice
