// Which tensors of an ONNX graph are images: those whose second axis is the channels. Here the
// channels are the last axis, so the shapes of images are turned, and no others. Convolutions,
// pools and the like say it of what they read and make; what keeps the axes as they are hands it
// on, in both directions. No data move: it is only in which order a shape is written.
#pragma once

#include <string>
#include <unordered_set>

#include "model/onnx/graph.hpp"

namespace sluice::onnx_import {

std::unordered_set<std::string> images_of(const Graph& graph);

/// A shape as layers write it: of one sample, the channels of an image last.
struct Sample {
  Shape shape;
  std::vector<std::size_t> axes;  ///< of each axis the one of ONNX that it is; none: not told
};

/// The batch is the axis that it is of an input, of the first one also a factor, or else the first
/// axis of that extent; a single number is [1]. Throws InputError where `shape` does not hold a
/// whole number of elements a sample, or has an extent of 0.
Sample sample_of(const Graph& graph, const Node& node, const Shape& shape, bool image);

}  // namespace sluice::onnx_import
