// Finds the tensors of an ONNX graph that are images. The channels of an ONNX image are its second axis, and in Sluice
// the channels are the last axis. So the axes of images are reordered, and the axes of other tensors are not.
// Convolutions, poolings and similar operators read and make images. Some other operators, such as an addition, keep
// the meaning of the axes: if one of the operator's tensors is an image, all of them are. Only the numbers in a shape
// are reordered: no data are moved.
#pragma once

#include <string>
#include <unordered_set>

#include "model/onnx/graph.hpp"

namespace sluice::onnx_import {

std::unordered_set<std::string> images_of(const Graph& graph);

/// The shape of one sample. If the sample is an image, its last axis is the channels.
struct Sample {
  Shape shape;
  /// For each axis of the sample, the number of this axis in ONNX. The list is empty if these numbers are not known.
  std::vector<std::size_t> axes;
};

/// Returns the shape of one sample of a tensor with the shape `shape`. For this, the extent of the batch axis is
/// divided by the number of samples, `graph.batch`. If the quotient is 1, the sample does not have this axis. The batch
/// axis is the first of these axes that exists:
/// 1. the axis with the same number as the batch axis of the model's inputs, if its extent is the number of samples.
///    The extent of axis 0 may also be a multiple of the number of samples;
/// 2. the first axis whose extent is the number of samples;
/// 3. axis 0, if its extent is a multiple of the number of samples.
/// If no such axis exists, the sample has a single axis for all its elements. The shape of a single number is [1].
/// Throws InputError if the elements do not divide into samples, or if an extent is 0.
Sample sample_of(const Graph& graph, const Node& node, const Shape& shape, bool image);

}  // namespace sluice::onnx_import
