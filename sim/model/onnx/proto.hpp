// An ONNX file consists of messages of protobuf. These functions parse the messages. Only files that include this
// header use libonnx and protobuf. The header itself only declares their types.
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

/// Parses the bytes of a file, and skips the data of large weights. Calls graph.fail(), which throws InputError, if the
/// file is not an ONNX model with nodes. The file may be anything: empty, truncated, a pickle, or a zip archive.
void parse_model(std::string_view bytes, ::onnx::ModelProto& model, const Graph& graph);

/// Returns the elements of a tensor. Returns nothing if the tensor is not small, or if its data are not in the file.
std::optional<Numbers> numbers_of(const ::onnx::TensorProto& tensor, std::int64_t elements);

Attribute attribute_of(const ::onnx::AttributeProto& proto);

/// The types and the data of tensors. The keys of the maps are the names of the tensors.
using Types = std::unordered_map<std::string, ::onnx::TypeProto*>;
using Data = std::unordered_map<std::string, const ::onnx::TensorProto*>;

/// The error when libonnx cannot infer a shape because it does not know the operator or the operator set.
struct NotKnown : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns the types of a node's outputs, as libonnx infers them. The function may rewrite `node` as a node of an older
/// operator set. Throws NotKnown. Throws other exceptions of libonnx if the node is invalid.
std::vector<::onnx::TypeProto> infer_types(::onnx::NodeProto& node, const Graph& graph,
                                           const Types& types, const Data& data);

/// These two functions return whether an element type is an integer type, and whether it is a floating-point type. The
/// elements of shapes are integers, and the elements of weights are floating-point numbers. `type` is ONNX's number of
/// the type.
bool is_integral(int type);
bool is_floating(int type);

}  // namespace sluice::onnx_import
