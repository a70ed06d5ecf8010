// Einstein's summation convention in the notation of ONNX's operator Einsum: `bij,jk->bik`. The code follows the ONNX
// operator schemas, version 1.12, Einsum, and the NumPy reference, einsum.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/model.hpp"

namespace sluice::onnx_import {

/// A label for each axis of a tensor. The label is a letter, as in the equation. For an axis of `...`, the label is a
/// number that counts from the last axis.
using Labels = std::vector<int>;

struct Einsum {
  std::vector<Labels> inputs;
  Labels output;
  std::map<int, std::int64_t> extents;

  Shape shape() const;  ///< the shape of the output
  /// Returns how many products are added up for one element of the output. Throws InputError on overflow.
  std::int64_t summed() const;
};

/// Reads an equation whose inputs have these shapes. Throws InputError if the equation is malformed or does not match
/// the shapes.
Einsum einsum_of(const std::string& equation, const std::vector<Shape>& inputs);

}  // namespace sluice::onnx_import
