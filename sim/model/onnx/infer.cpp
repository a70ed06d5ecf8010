#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/quantity.hpp"
#include "model/onnx/proto.hpp"

namespace sluice::onnx_import {
namespace {

namespace pb = ::onnx;

/// Rewrites a node of a newer operator set for libonnx 1.12, which knows the operator sets up to 17. In set 18, the
/// attribute `axes` became an input. This function makes `axes` an attribute again. Set 18 also gave Split the
/// attribute `num_outputs`. This function removes it, because libonnx 1.12 counts the outputs.
void make_older(pb::NodeProto& node, const Graph& graph) {
  if (graph.opset < 18) return;
  const bool reduces = node.op_type().rfind("Reduce", 0) == 0 && node.op_type() != "ReduceSum";
  if (reduces && node.input_size() == 2) {
    const Tensor* axes = graph.find(node.input(1));
    if (!axes || !axes->numbers) return;
    pb::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name("axes");
    attribute.set_type(pb::AttributeProto::INTS);
    for (const double axis : *axes->numbers)
      attribute.add_ints(static_cast<std::int64_t>(std::clamp(axis, -1e6, 1e6)));
    node.mutable_input()->RemoveLast();
  }
  auto& attributes = *node.mutable_attribute();
  for (int i = attributes.size() - 1; i >= 0; --i)
    if (node.op_type() == "Split" && attributes.Get(i).name() == "num_outputs")
      attributes.DeleteSubrange(i, 1);
}

/// Throws an error if one of the attributes by which libonnx divides is not positive. libonnx does not check this.
void require_positive(const pb::NodeProto& node) {
  for (const pb::AttributeProto& attribute : node.attribute()) {
    const std::string& name = attribute.name();
    if (name != "strides" && name != "dilations" && name != "kernel_shape" && name != "group" &&
        name != "blocksize")
      continue;
    bool positive = !attribute.has_i() || attribute.i() > 0;
    for (const std::int64_t each : attribute.ints()) positive = positive && each > 0;
    if (!positive) throw std::runtime_error("'" + name + "' is not positive");
  }
}

/// Returns the number of axes of an input. Returns -1 if this number is not known.
int rank_of(const pb::NodeProto& node, int input, const Types& types) {
  const auto found = input < node.input_size() ? types.find(node.input(input)) : types.end();
  if (found == types.end() || !found->second->has_tensor_type()) return -1;
  const pb::TypeProto::Tensor& tensor = found->second->tensor_type();
  return tensor.has_shape() ? tensor.shape().dim_size() : -1;
}

/// Throws an error unless the weights of a convolution have as many axes as its image. libonnx does not check this.
void require_alike(const pb::NodeProto& node, const Types& types) {
  if (node.op_type().find("Conv") == std::string::npos) return;
  // In a quantised node, inputs 1 and 2 are the scale and the zero point of the image. The weights are input 3.
  const bool quantised = node.op_type().rfind("QLinear", 0) == 0;
  const int image = rank_of(node, 0, types), weights = rank_of(node, quantised ? 3 : 1, types);
  if (image < 0 || weights < 0) throw NotKnown("the number of axes of an input is not known");
  if (image != weights)
    throw std::runtime_error("the weights have " + std::to_string(weights) +
                             " axes, and the input " + std::to_string(image));
}

constexpr std::int64_t newest = 17;  ///< the newest operator set that libonnx 1.12 knows

/// Throws an error if the node does not have the inputs and attributes of its operator. In a newer operator set, the
/// operator may have other inputs and attributes. So the error for such a set is NotKnown.
void verify(const pb::OpSchema& schema, const pb::NodeProto& node, const Graph& graph) {
  try {
    schema.Verify(node);
  } catch (const std::exception& error) {
    if (graph.opset > newest) throw NotKnown(error.what());
    throw;
  }
}

const pb::AttributeProto* attribute_in(const pb::NodeProto& node, const char* name) {
  for (const pb::AttributeProto& attribute : node.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

/// Returns the value for one axis from an attribute's list. Returns `absent` if the list has no value for this axis.
std::int64_t at_axis(const pb::AttributeProto* list, int axis, std::int64_t absent) {
  return list && axis < list->ints_size() ? list->ints(axis) : absent;
}

/// Corrects the shape of a pooling's output. In ONNX, a window that begins in the zeros after the image does not count.
/// But libonnx 1.12 counts it.
void drop_empty_windows(const pb::NodeProto& node, const Types& types, pb::TypeProto& output) {
  const pb::AttributeProto* ceil = attribute_in(node, "ceil_mode");
  const pb::AttributeProto *pads = attribute_in(node, "pads"),
                           *strides = attribute_in(node, "strides");
  const int rank = rank_of(node, 0, types);
  if (!ceil || ceil->i() == 0 || rank < 3 || !output.tensor_type().has_shape()) return;
  const pb::TensorShapeProto& image = types.at(node.input(0))->tensor_type().shape();
  pb::TensorShapeProto& shape = *output.mutable_tensor_type()->mutable_shape();
  if (shape.dim_size() != rank) return;
  for (int axis = 0; axis + 2 < rank; ++axis) {
    pb::TensorShapeProto::Dimension& extent = *shape.mutable_dim(axis + 2);
    const std::int64_t begun =
        checked_add(image.dim(axis + 2).dim_value(), at_axis(pads, axis, 0), "padding");
    const std::int64_t last = (begun - 1) / at_axis(strides, axis, 1);
    if (extent.dim_value() > 1 && begun > 0)
      extent.set_dim_value(std::min(extent.dim_value(), checked_add(last, 1, "elements")));
  }
}

}  // namespace

std::vector<pb::TypeProto> infer_types(pb::NodeProto& node, const Graph& graph, const Types& types,
                                       const Data& data) {
  const pb::OpSchema* schema =
      pb::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(graph.opset), pb::ONNX_DOMAIN);
  if (!schema) throw NotKnown("libonnx does not know the operator");
  make_older(node, graph);
  verify(*schema, node, graph);
  require_positive(node);
  require_alike(node, types);
  std::vector<pb::TypeProto> outputs(static_cast<std::size_t>(node.output_size()));
  if (!schema->has_type_and_shape_inference_function()) return outputs;
  pb::shape_inference::InferenceContextImpl context(node, types, data, {});
  schema->GetTypeAndShapeInferenceFunction()(context);
  if (!outputs.empty()) drop_empty_windows(node, types, context.allOutputTypes_.front());
  return context.allOutputTypes_;
}

}  // namespace sluice::onnx_import
