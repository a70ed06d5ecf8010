// Finds the tensors of an ONNX graph that are images. The channels of an ONNX image are its second axis. In
// Sluice they are the last axis, so the axes of images are reordered; other tensors stay as they are.
// Convolutions, pools and similar operators say that the tensors that they read and make are images. Operators
// that keep the axes pass this on, in both directions. No data are moved: only the order in which a shape is
// written changes.
#pragma once

#include <string>
#include <unordered_set>

#include "model/onnx/graph.hpp"

namespace sluice::onnx_import {

std::unordered_set<std::string> images_of(const Graph& graph);

/// A shape as layers write it: the shape of one sample, with the channels of an image last.
struct Sample {
  Shape shape;
  std::vector<std::size_t> axes;  ///< for each axis the number of ONNX's axis; none: not known
};

/// Returns the shape of one sample. The batch has the same axis as in the inputs. On the first axis, the extent may
/// also be a multiple of the batch. If that axis does not fit, the batch is the first axis with the batch's extent. A
/// single number has the shape [1]. Throws InputError if a sample would not have a whole number of elements, or if an
/// extent is 0.
Sample sample_of(const Graph& graph, const Node& node, const Shape& shape, bool image);

}  // namespace sluice::onnx_import
