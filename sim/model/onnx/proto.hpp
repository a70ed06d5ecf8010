// Parses ONNX's messages. Only files that include this header use libonnx and protobuf. This header does not include
// the headers of these libraries.
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

/// Parses the bytes of a file, and skips the data of large weights. Throws InputError by graph.fail() if the file is
/// not an ONNX model with nodes. It may be empty, truncated, a pickle or a zip archive.
void parse_model(std::string_view bytes, ::onnx::ModelProto& model, const Graph& graph);

/// Returns the elements of a tensor if the tensor is small and its data are in the file.
std::optional<Numbers> numbers_of(const ::onnx::TensorProto& tensor, std::int64_t elements);

Attribute attribute_of(const ::onnx::AttributeProto& proto);

/// Maps whose keys are the names of tensors.
using Types = std::unordered_map<std::string, ::onnx::TypeProto*>;
using Data = std::unordered_map<std::string, const ::onnx::TensorProto*>;

/// The error for shapes of operators or versions that libonnx does not know.
struct NotKnown : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns the types that libonnx infers for a node's outputs. The function may rewrite `node` for an older operator
/// set. Throws NotKnown, and any exception of libonnx for an invalid node.
std::vector<::onnx::TypeProto> infer_types(::onnx::NodeProto& node, const Graph& graph,
                                           const Types& types, const Data& data);

/// These functions return whether an element type is an integer type or a floating-point type. Shapes have integers,
/// weights have floating-point numbers. `type` is ONNX's number of the type.
bool is_integral(int type);
bool is_floating(int type);

}  // namespace sluice::onnx_import
