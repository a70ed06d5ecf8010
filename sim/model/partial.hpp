// The functions split layers into partial layers. A partial layer has a share of a layer's output and
// weights.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model.hpp"

namespace sluice {

/// Returns the model with its layers split. `parts[i]` is the number of parts of layer i, at least 1. Every count of
/// a layer is divided as evenly as integers allow. The counts of the parts add up to the count of the layer. Each
/// part reads all of the layer's inputs. A layer that read the split layer reads all its parts. The parts of a layer
/// "15-Full" are called "15-Fulla", "15-Fullb", and so on. With more than 26 parts, they are called "15-Full.1",
/// "15-Full.2", and so on.
///
/// Layers that share weights must have the same number of parts (`split_alike`). Part i of each of them has part i of
/// the weights. So each part of an embedding table has some of the rows of the table. A part of the embedding looks
/// up only the words of its rows. All parts are assumed to look up the same number of words per sample. If a product
/// shares the table, each part of the product computes the scores of the words in its rows.
Model split_layers(const Model& model, const std::vector<std::int64_t>& parts);

/// Returns `parts` with one change: layers that share weights get the largest of their numbers.
std::vector<std::int64_t> split_alike(const Model& model, std::vector<std::int64_t> parts);

}  // namespace sluice
