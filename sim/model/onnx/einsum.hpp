// Einstein's summation convention in the notation of ONNX's operator Einsum: `bij,jk->bik`. The code follows the ONNX
// operator schemas, version 1.12, Einsum, and the NumPy reference, einsum.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/model.hpp"

namespace sluice::onnx_import {

/// The labels of axes. A label is a letter. For an axis of `...`, it is a number that counts from the last axis.
using Labels = std::vector<int>;

struct Einsum {
  std::vector<Labels> inputs;
  Labels output;
  std::map<int, std::int64_t> extents;

  Shape shape() const;  ///< the shape of the output
  /// Returns the number of products that are summed for one element of the output. Throws InputError on overflow.
  std::int64_t summed() const;
};

/// Reads an equation for inputs of these shapes. Throws InputError if it is malformed, or does not match the shapes.
Einsum einsum_of(const std::string& equation, const std::vector<Shape>& inputs);

}  // namespace sluice::onnx_import
