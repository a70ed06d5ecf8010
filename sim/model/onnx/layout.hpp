// Finds the tensors of an ONNX graph that are images. The channels of an ONNX image are its second axis. In Sluice the
// channels are the last axis. So the axes of images are reordered, and the axes of other tensors
// are not reordered. Convolutions, poolings and similar operators read and make images. Some
// operators keep the meaning of the axes. If one tensor of such an operator is an image, all its
// tensors are images. No data are moved, because only the order of the numbers in a shape changes.
#pragma once

#include <string>
#include <unordered_set>

#include "model/onnx/graph.hpp"

namespace sluice::onnx_import {

std::unordered_set<std::string> images_of(const Graph& graph);

/// The shape of one sample in Sluice, with the channels of an image last.
struct Sample {
  Shape shape;
  /// For each axis of the sample, the number of this axis in ONNX. The list is empty if these numbers are not known.
  std::vector<std::size_t> axes;
};

/// Returns the shape of one sample. The extent of the batch axis is divided by the batch. If 1 remains, the axis is
/// left out. The batch axis has the same number as in the inputs, if its extent is the batch. If it is axis 0, a
/// multiple of the batch is enough. Otherwise, the batch axis is the first axis whose extent is the batch. If there
/// is none, it is axis 0, if its extent is a multiple of the batch. Without a batch axis, the sample has one axis for
/// all its elements. The shape of a single number is [1]. Throws InputError if the elements do not divide into
/// samples, or if an extent is 0.
Sample sample_of(const Graph& graph, const Node& node, const Shape& shape, bool image);

}  // namespace sluice::onnx_import
