#include "model/onnx/given_shapes.hpp"

namespace sluice::onnx_import {

GivenShapes::GivenShapes(const Reader& keys) {
  const Value* shapes = keys.value("shapes");
  if (!shapes) return;
  for (const Value::Entry& entry : shapes->entries()) {
    Given& given = given_[entry.key];
    given.value = &entry.value;
    for (const Value& extent : entry.value.items()) {
      if (extent.kind() != Value::Kind::integer || extent.as_integer() < 1)
        fail_at(extent, "'" + extent.text() + "' in the shape of '" + entry.key +
                            "': expected an integer of at least 1");
      given.shape.push_back(extent.as_integer());
    }
    if (given.shape.empty())
      fail_at(entry.value, "the shape of '" + entry.key +
                               "' in 'shapes': expected a list of extents that includes the batch");
  }
}

const Shape* GivenShapes::use(const std::string& tensor) {
  const auto found = given_.find(tensor);
  if (found == given_.end()) return nullptr;
  found->second.used = true;
  return &found->second.shape;
}

void GivenShapes::require_used() const {
  for (const auto& [name, given] : given_)
    if (!given.used)
      fail_at(*given.value, "'" + name +
                                "' in 'shapes': expected a tensor that a node makes and whose " +
                                "shape is not known");
}

}  // namespace sluice::onnx_import
