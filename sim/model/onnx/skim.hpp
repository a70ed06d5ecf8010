// Removes the data of weights from an ONNX file. Weights are the largest part of a file, but the counts of a model need
// only the shapes of the weights. So large data are removed before the file is parsed, and are never copied or read. An
// ONNX file may name other files that hold data. The paths of these files are removed, too, so these files are never
// opened. The format follows onnx.proto, version 1.12, and Protocol Buffers, Encoding.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::onnx_import {

/// Data of a tensor are removed if they have more bytes than this. Smaller data are kept, because the tensor may be a
/// shape, a list of axes, or a scale.
inline constexpr std::size_t most_data = 4096;

/// How deep messages may be nested. A graph contains nodes, and a node may contain another graph.
inline constexpr int deepest = 40;

/// Returns a ModelProto without large data. `bytes` are a ModelProto in the encoding of protobuf, and so is the result.
/// Throws InputError, without a position, if `bytes` are not a complete ModelProto.
std::string without_data(std::string_view bytes);

}  // namespace sluice::onnx_import
