// The shapes that the user gives under the key `shapes`. Each is the shape of one tensor: the file does not give this
// shape, and libonnx cannot infer it.
#pragma once

#include <map>
#include <string>

#include "document/record.hpp"
#include "model/model.hpp"

namespace sluice::onnx_import {

class GivenShapes {
 public:
  /// Reads the key `shapes`. Throws InputError at an extent that is not a positive integer, and at an empty list.
  explicit GivenShapes(const Reader& keys);

  /// Returns the given shape of a tensor, and marks the shape as used. Returns null if no shape is given.
  const Shape* use(const std::string& tensor);

  /// Throws InputError at a given shape that was never used.
  void require_used() const;

 private:
  struct Given {
    Shape shape;
    const Value* value = nullptr;
    bool used = false;
  };
  std::map<std::string, Given> given_;  ///< by the name of the tensor
};

}  // namespace sluice::onnx_import
