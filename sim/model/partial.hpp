// Partial layers: a layer as several, each with its share of the output and of the weights.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model.hpp"

namespace sluice {

/// `parts`: by layer, 1 or more. Every count of a layer is divided as evenly as integers can be, so
/// that the parts add up to it; each part reads all of the layer's inputs, and whatever reads the
/// layer reads all parts. Named "15-Fulla", "15-Fullb", …; "15-Full.1", … beyond 26.
///
/// Layers that share weights become equally many parts (`split_alike`), and part i of each has part
/// i of the weights. So a table of words is divided by its rows: a part of the embedding looks up
/// the words of its rows (as many of a sample as any other part does, it is assumed), a part of the
/// product that shares the table gives the scores of its rows.
Model split_layers(const Model& model, const std::vector<std::int64_t>& parts);

/// The same parts, but as many of all layers that share weights as of the one with the most.
std::vector<std::int64_t> split_alike(const Model& model, std::vector<std::int64_t> parts);

}  // namespace sluice
