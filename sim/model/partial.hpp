// Splits layers into partial layers. A partial layer has a share of the layer's output and of its weights.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model.hpp"

namespace sluice {

/// Returns the model with its layers split into parts. `parts[i]` is the number of parts of layer i, at least 1. A layer
/// gets at most as many parts as its output has elements. Each
/// count of a layer, such as its FLOP, is divided into whole numbers that differ by at most 1. Each part reads all
/// inputs of the layer. A layer that reads the output of layer i then reads the outputs of all parts of layer i. The
/// parts of a layer "15-Full" are called "15-Fulla", "15-Fullb", and so on. With more than 26 parts, they are called
/// "15-Full.1", "15-Full.2", and so on.
///
/// Layers that share weights get the same number of parts, by split_alike(). Then part i of each of these layers has
/// part i of the weights. For example, a part of an embedding has some rows of the embedding table. It looks up only
/// the words of these rows. All parts are assumed to look up the same number of words per sample. If a product shares
/// the table, each part of the product has some rows of the table, too, and computes the scores of the words of these
/// rows.
Model split_layers(const Model& model, const std::vector<std::int64_t>& parts);

/// Returns `parts` with two changes. No layer gets more parts than its output has elements. Layers that share weights get
/// the same number of parts: the largest of their numbers in `parts` that this limit allows for each of them.
std::vector<std::int64_t> split_alike(const Model& model, std::vector<std::int64_t> parts);

}  // namespace sluice
