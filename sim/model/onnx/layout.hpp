// Finds the tensors of an ONNX graph that are images. The channels of an ONNX image are its second axis. In Sluice they
// are the last axis, so the axes of images are reordered; other tensors stay as they are. Convolutions, pools and
// similar operators say that the tensors that they read and make are images. If an operator keeps the meaning of the
// axes and one of its tensors is an image, its other tensors are images, too. No data are moved: only the order in
// which a shape is written changes.
#pragma once

#include <string>
#include <unordered_set>

#include "model/onnx/graph.hpp"

namespace sluice::onnx_import {

std::unordered_set<std::string> images_of(const Graph& graph);

/// A shape as layers write it: the shape of one sample, with the channels of an image last.
struct Sample {
  Shape shape;
  /// For each axis, the number of that axis in ONNX; empty if this is not known.
  std::vector<std::size_t> axes;
};

/// Returns the shape of one sample. The batch has the same axis as in the inputs. If this is the first axis, its extent
/// may also be a multiple of the batch. If the extent of this axis does not fit the batch, the first axis whose extent
/// is the batch is taken. A single number has the shape [1]. Throws InputError if a sample would not have a whole
/// number of elements, or if an extent is 0.
Sample sample_of(const Graph& graph, const Node& node, const Shape& shape, bool image);

}  // namespace sluice::onnx_import
