#include "model/onnx/proto.hpp"

#include <onnx/onnx_pb.h>

#include <cstring>

#include "model/onnx/skim.hpp"
#include "model/read.hpp"

namespace sluice::onnx_import {
namespace {

namespace pb = ::onnx;

template <class T>
void append(const std::string& raw, Numbers& numbers) {
  for (std::size_t at = 0; at + sizeof(T) <= raw.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, raw.data() + at, sizeof(T));
    numbers.push_back(static_cast<double>(value));
  }
}

}  // namespace

void parse_model(std::string_view bytes, pb::ModelProto& model, const Graph& graph) {
  if (bytes.empty()) graph.fail("the file is empty, expected an ONNX model");
  if (bytes.front() == '\x80')
    graph.fail("this is a Python pickle, which is never read; export the model to ONNX");
  if (bytes.substr(0, 4) == "PK\x03\x04")
    graph.fail(
        "this is a zip archive, perhaps a checkpoint of PyTorch, whose pickle is never read; export the model to ONNX");
  try {
    if (!model.ParseFromString(without_data(bytes)))
      graph.fail("this is not an ONNX file: its messages are malformed");
  } catch (const InputError& error) {
    if (error.has_position()) throw;
    graph.fail(error.what());
  }
  if (!model.has_graph() || model.graph().node_size() == 0)
    graph.fail("the model has no nodes; check whether this is an ONNX file");
  if (model.graph().node_size() > static_cast<int>(most_layers))
    graph.fail("more than " + std::to_string(most_layers) + " nodes");
}

std::optional<Numbers> numbers_of(const pb::TensorProto& tensor, std::int64_t elements) {
  if (elements > most_numbers || tensor.data_location() == pb::TensorProto::EXTERNAL) return {};
  Numbers numbers;
  const std::string& raw = tensor.raw_data();
  switch (tensor.data_type()) {
    case pb::TensorProto::INT64:
      numbers.assign(tensor.int64_data().begin(), tensor.int64_data().end());
      append<std::int64_t>(raw, numbers);
      break;
    case pb::TensorProto::INT32:
      numbers.assign(tensor.int32_data().begin(), tensor.int32_data().end());
      append<std::int32_t>(raw, numbers);
      break;
    case pb::TensorProto::BOOL:
      numbers.assign(tensor.int32_data().begin(), tensor.int32_data().end());
      append<std::uint8_t>(raw, numbers);
      break;
    case pb::TensorProto::FLOAT:
      numbers.assign(tensor.float_data().begin(), tensor.float_data().end());
      append<float>(raw, numbers);
      break;
    case pb::TensorProto::DOUBLE:
      numbers.assign(tensor.double_data().begin(), tensor.double_data().end());
      append<double>(raw, numbers);
      break;
    default:
      break;
  }
  if (static_cast<std::int64_t>(numbers.size()) != elements) return std::nullopt;
  return numbers;
}

bool is_integral(int type) {
  return type == pb::TensorProto::INT64 || type == pb::TensorProto::INT32;
}
bool is_floating(int type) {
  return type == pb::TensorProto::FLOAT || type == pb::TensorProto::DOUBLE ||
         type == pb::TensorProto::FLOAT16 || type == pb::TensorProto::BFLOAT16;
}

Attribute attribute_of(const pb::AttributeProto& proto) {
  Attribute attribute;
  if (proto.has_i()) attribute.integer = proto.i();
  if (proto.has_f()) attribute.number = proto.f();
  attribute.text = proto.s();
  attribute.integers.assign(proto.ints().begin(), proto.ints().end());
  if (!proto.has_t()) return attribute;
  if (const auto numbers = numbers_of(proto.t(), 1)) attribute.number = numbers->front();
  return attribute;
}

}  // namespace sluice::onnx_import
