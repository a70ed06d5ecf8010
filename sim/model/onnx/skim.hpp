// An ONNX file without the data of its weights. Weights are most of a file, and a model's counts
// need only their shapes: what is large is dropped before the file is parsed, so that nothing of it
// is copied or looked at. External data are never opened: the paths go, too.
// Source: onnx.proto, version 1.12; Protocol Buffers, Encoding.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::onnx_import {

/// Bytes of a tensor's data up to which it is kept: small tensors are shapes, axes, scales.
inline constexpr std::size_t most_data = 4096;

/// Messages nest no deeper than this (subgraphs do).
inline constexpr int deepest = 40;

/// The same ModelProto, encoded, without large data. Throws InputError (without position) where
/// `bytes` are no message: truncated, or something else.
std::string without_data(std::string_view bytes);

}  // namespace sluice::onnx_import
