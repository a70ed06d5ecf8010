// Reads ONNX models: read_onnx() makes a sluice-model/1 document from the bytes of a file. It does not read weights,
// and opens no other files. The bytes may be anything: read_onnx() returns a document or throws InputError. The format
// follows the ONNX operator schemas, version 1.12 (opset 17).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/importer.hpp"

namespace sluice {

/// The number of elements that the weights of a file have, for each way in which weights are used. Only floating-point
/// and quantised weights count.
struct OnnxElements {
  std::int64_t learned = 0;     ///< parameters of layers
  std::int64_t statistics = 0;  ///< running means and variances, which are not parameters
  std::int64_t unused = 0;      ///< constants, and weights that no layer reads
  /// How many of the `learned` elements the file stores as integers.
  std::int64_t quantised = 0;
};

/// Returns the document. `keys` has `batch`, `as_zero`, `shapes`, and the extents of symbolic dimensions: `sluice
/// import --help` explains them. Sets `elements` unless it is null.
Imported read_onnx(std::string_view bytes, const std::string& path, const Reader& keys,
                   OnnxElements* elements = nullptr);

}  // namespace sluice
