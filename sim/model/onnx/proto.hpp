// ONNX's messages taken apart. The only users of libonnx and protobuf are the files that include
// this one; their headers stay out of it.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/onnx/graph.hpp"

namespace onnx {
class AttributeProto;
class ModelProto;
class NodeProto;
class TensorProto;
class TypeProto;
}  // namespace onnx

namespace sluice::onnx_import {

/// Parses a file without the data of its weights. Throws InputError (through `graph`) for what is
/// no ONNX model: empty, truncated, a pickle, a zip archive, without nodes.
void parse_model(std::string_view bytes, ::onnx::ModelProto& model, const Graph& graph);

/// The elements of a tensor whose data are in the file and few.
std::optional<Numbers> numbers_of(const ::onnx::TensorProto& tensor, std::int64_t elements);

Attribute attribute_of(const ::onnx::AttributeProto& proto);

/// By the names of tensors.
using Types = std::unordered_map<std::string, ::onnx::TypeProto*>;
using Data = std::unordered_map<std::string, const ::onnx::TensorProto*>;

/// libonnx cannot tell: it does not know the operator, or not this version of it.
struct NotKnown : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What libonnx infers of a node's outputs. `node` may be written as older operator sets have it.
/// Throws NotKnown, and whatever libonnx throws at a node that cannot be.
std::vector<::onnx::TypeProto> infer_types(::onnx::NodeProto& node, const Graph& graph,
                                           const Types& types, const Data& data);

/// Of an element type, ONNX's number: does it count things, as shapes do; is it a weight's.
bool is_integral(int type);
bool is_floating(int type);

}  // namespace sluice::onnx_import
