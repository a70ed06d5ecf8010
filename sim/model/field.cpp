#include "model/field.hpp"

#include <algorithm>

#include "base/quantity.hpp"

namespace sluice {
namespace {

bool all_have_one(const std::vector<const Layer*>& inputs) {
  for (const Layer* input : inputs)
    if (!input->field || input->field->size.size() != inputs[0]->field->size.size()) return false;
  return true;
}

/// Compares the receptive fields of the inputs. Returns a receptive field with the largest size and the largest jump
/// along each axis.
ReceptiveField joined(const std::vector<const Layer*>& inputs) {
  ReceptiveField field = *inputs[0]->field;
  for (const Layer* input : inputs)
    for (std::size_t axis = 0; axis < field.size.size(); ++axis) {
      field.size[axis] = std::max(field.size[axis], input->field->size[axis]);
      field.jump[axis] = std::max(field.jump[axis], input->field->jump[axis]);
    }
  return field;
}

}  // namespace

std::optional<ReceptiveField> field_of(const InputDependence& dependence, const Shape& shape,
                                       const std::vector<const Layer*>& inputs) {
  if (inputs.empty()) {
    if (shape.size() < 2) return {};
    const Shape ones(shape.size() - 1, 1);
    return ReceptiveField{ones, ones};
  }
  if (dependence.kind == InputDependence::Kind::everything || !all_have_one(inputs)) return {};
  ReceptiveField field = joined(inputs);
  if (dependence.kind == InputDependence::Kind::same_place) return field;
  if (dependence.reach.size() != field.size.size()) return {};
  for (std::size_t axis = 0; axis < dependence.reach.size(); ++axis) {
    const std::int64_t stride = dependence.stride[axis];
    std::int64_t &size = field.size[axis], &jump = field.jump[axis];
    // The number of pixels of the layer's input on which an output pixel depends, minus 1.
    std::int64_t more = dependence.reach[axis] - 1;
    if (dependence.kind == InputDependence::Kind::spread) more /= stride;
    size = checked_add(size, checked_mul(more, jump, "receptive field"), "receptive field");
    if (dependence.kind == InputDependence::Kind::window)
      jump = checked_mul(jump, stride, "jump");
    else if (jump % stride == 0)
      jump /= stride;
    else
      return {};
  }
  return field;
}

}  // namespace sluice
