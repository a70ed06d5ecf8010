// Removes the data of weights from an ONNX file. Weights are the largest part of a file, but the counts of a model
// need only their shapes. So large data are removed before the file is parsed. They are never copied or read. An ONNX
// file may name other files that hold data. Their paths are also removed, so these files are never opened. The format
// follows onnx.proto, version 1.12, and Protocol Buffers, Encoding.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::onnx_import {

/// Data of at most this many bytes are kept: small tensors may be shapes, axes or scales.
inline constexpr std::size_t most_data = 4096;

/// The deepest allowed nesting of messages. Messages nest because graphs contain graphs.
inline constexpr int deepest = 40;

/// Returns the encoded ModelProto without large data. Throws InputError (without a position) if `bytes` are not a
/// complete ModelProto.
std::string without_data(std::string_view bytes);

}  // namespace sluice::onnx_import
