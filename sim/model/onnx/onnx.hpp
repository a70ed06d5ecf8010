// Reads ONNX models: read_onnx makes a sluice-model/1 document from the bytes of a file. The function reads no
// weights and no other files. A file may hold anything: the result is a document or an InputError. The format follows
// the ONNX operator schemas, version 1.12 (opset 17).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/importer.hpp"

namespace sluice {

/// The numbers of elements of a file's floating-point and quantised weights, by the use of the weights.
struct OnnxElements {
  std::int64_t learned = 0;     ///< parameters of layers
  std::int64_t statistics = 0;  ///< running means and variances, which are not parameters
  std::int64_t unused = 0;      ///< constants, and weights that no layer reads
  /// How many elements of `learned` are stored as integers in the file.
  std::int64_t quantised = 0;
};

/// Returns the document. `keys` holds `batch`, `as_zero`, `shapes`, and values of symbolic dimensions (see sluice
/// import --help).
Imported read_onnx(std::string_view bytes, const std::string& path, const Reader& keys,
                   OnnxElements* elements = nullptr);

}  // namespace sluice
