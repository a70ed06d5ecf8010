#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "model/onnx/proto.hpp"

namespace sluice::onnx_import {
namespace {

namespace pb = ::onnx;

/// Opset 18 made an input of what libonnx 1.12 knows as the attribute `axes`, and an attribute of
/// the number of parts into which Split splits, which it knows from the outputs.
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

/// libonnx divides by some attributes without looking at them.
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

/// -1 where it is not known.
int rank_of(const pb::NodeProto& node, int input, const Types& types) {
  const auto found = input < node.input_size() ? types.find(node.input(input)) : types.end();
  if (found == types.end() || !found->second->has_tensor_type()) return -1;
  const pb::TypeProto::Tensor& tensor = found->second->tensor_type();
  return tensor.has_shape() ? tensor.shape().dim_size() : -1;
}

/// It goes along the axes of a convolution's weights in the image, too.
void require_alike(const pb::NodeProto& node, const Types& types) {
  if (node.op_type().find("Conv") == std::string::npos) return;
  const bool quantised = node.op_type().rfind("QLinear", 0) == 0;  // with scales in between
  const int image = rank_of(node, 0, types), weights = rank_of(node, quantised ? 3 : 1, types);
  if (image < 0 || weights < 0) throw std::runtime_error("the rank of an input is not known");
  if (image != weights)
    throw std::runtime_error("the weights have " + std::to_string(weights) +
                             " axes, and the input " + std::to_string(image));
}

}  // namespace

std::vector<pb::TypeProto> infer_types(pb::NodeProto& node, const Graph& graph, const Types& types,
                                       const Data& data) {
  const pb::OpSchema* schema =
      pb::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(graph.opset), pb::ONNX_DOMAIN);
  if (!schema) throw std::runtime_error("libonnx does not know the operator");
  make_older(node, graph);
  schema->Verify(node);
  require_positive(node);
  require_alike(node, types);
  std::vector<pb::TypeProto> outputs(static_cast<std::size_t>(node.output_size()));
  if (!schema->has_type_and_shape_inference_function()) return outputs;
  pb::shape_inference::InferenceContextImpl context(node, types, data, {});
  schema->GetTypeAndShapeInferenceFunction()(context);
  return context.allOutputTypes_;
}

}  // namespace sluice::onnx_import
