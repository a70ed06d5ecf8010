// ONNX models: read_onnx makes a sluice-model/1 document of a file's bytes. Weights are never read,
// nor is anything outside the file. A file is not trusted: whatever it holds, the answer is a
// document or an InputError.
// Source: ONNX operator schemas, version 1.12 (opset 17).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/importer.hpp"

namespace sluice {

/// Elements of the weights in a file, by what they are: of floating-point numbers, or quantised.
struct OnnxElements {
  std::int64_t learned = 0;     ///< parameters of layers
  std::int64_t statistics = 0;  ///< running means and variances, which are no parameters
  std::int64_t unused = 0;      ///< constants, and what no layer reads
  std::int64_t quantised = 0;   ///< of the learned ones those that the file has as integers
};

/// `keys`: `batch`, `as_zero`, `shapes`, and values of symbolic dimensions (see sluice import
/// --help).
Imported read_onnx(std::string_view bytes, const std::string& path, const Reader& keys,
                   OnnxElements* elements = nullptr);

}  // namespace sluice
