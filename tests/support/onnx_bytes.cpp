#include "support/onnx_bytes.hpp"

#include <cstring>

namespace sluice::test {
namespace {

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7F) | 0x80);
  return out + static_cast<char>(value);
}

std::string key(int number, int wire) {
  return varint(static_cast<std::uint64_t>(number) << 3 | static_cast<std::uint64_t>(wire));
}

std::string raw(float value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

std::string value_info(const std::string& name, const std::vector<OnnxDim>& dims, int element) {
  std::string shape;
  for (const OnnxDim& dim : dims)
    shape += field(1, dim.symbol.empty() ? field(1, dim.extent) : field(2, dim.symbol));
  const std::string tensor = field(1, std::int64_t{element}) + field(2, shape);
  return field(1, name) + field(2, field(1, tensor));
}

}  // namespace

std::string field(int number, std::int64_t value) {
  return key(number, 0) + varint(static_cast<std::uint64_t>(value));
}

std::string field(int number, std::string_view bytes) {
  return key(number, 2) + varint(bytes.size()) + std::string(bytes);
}

OnnxAttribute OnnxAttribute::integer(std::string name, std::int64_t value) {
  return {field(1, name) + field(3, value) + field(20, std::int64_t{2})};
}
OnnxAttribute OnnxAttribute::number(std::string name, float value) {
  return {field(1, name) + key(2, 5) + raw(value) + field(20, std::int64_t{1})};
}
OnnxAttribute OnnxAttribute::text(std::string name, std::string_view value) {
  return {field(1, name) + field(4, value) + field(20, std::int64_t{3})};
}
OnnxAttribute OnnxAttribute::integers(std::string name, const std::vector<std::int64_t>& values) {
  std::string message = field(1, name);
  for (const std::int64_t value : values) message += field(8, value);
  return {message + field(20, std::int64_t{7})};
}
OnnxAttribute OnnxAttribute::graph(std::string name, std::string_view message) {
  return {field(1, name) + field(6, message) + field(20, std::int64_t{5})};
}

OnnxBytes& OnnxBytes::opset(std::int64_t version, std::string_view domain) {
  sets_ += field(8, field(1, domain) + field(2, version));
  has_opset_ = true;
  return *this;
}

OnnxBytes& OnnxBytes::input(const std::string& name, const std::vector<OnnxDim>& shape,
                            OnnxElement element) {
  graph_ += field(11, value_info(name, shape, element));
  return *this;
}

OnnxBytes& OnnxBytes::output(const std::string& name) {
  graph_ += field(12, field(1, name));
  return *this;
}

OnnxBytes& OnnxBytes::shape(const std::string& name, const std::vector<OnnxDim>& shape,
                            OnnxElement element) {
  graph_ += field(13, value_info(name, shape, element));
  return *this;
}

OnnxBytes& OnnxBytes::weight(const std::string& name, const std::vector<std::int64_t>& shape,
                             std::string_view more) {
  std::string tensor;
  for (const std::int64_t extent : shape) tensor += field(1, extent);
  graph_ +=
      field(5, tensor + field(2, std::int64_t{onnx_float}) + field(8, name) + std::string(more));
  return *this;
}

OnnxBytes& OnnxBytes::numbers(const std::string& name, const std::vector<std::int64_t>& values) {
  std::string tensor = field(1, static_cast<std::int64_t>(values.size())) +
                       field(2, std::int64_t{onnx_int64}) + field(8, name);
  for (const std::int64_t value : values) tensor += field(7, value);
  graph_ += field(5, tensor);
  return *this;
}

OnnxBytes& OnnxBytes::scalar(const std::string& name, float value) {
  graph_ += field(5, field(2, std::int64_t{onnx_float}) + field(8, name) + field(9, raw(value)));
  return *this;
}

OnnxBytes& OnnxBytes::node(const std::string& op, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs,
                           const std::vector<OnnxAttribute>& attributes, std::string_view name,
                           std::string_view domain) {
  std::string message;
  for (const std::string& input : inputs) message += field(1, input);
  for (const std::string& output : outputs) message += field(2, output);
  message += field(3, name) + field(4, op);
  for (const OnnxAttribute& attribute : attributes) message += field(5, attribute.message);
  if (!domain.empty()) message += field(7, domain);
  graph_ += field(1, message);
  return *this;
}

std::string OnnxBytes::bytes() const {
  const std::string sets = has_opset_ ? sets_ : field(8, field(2, std::int64_t{13}));
  return field(1, std::int64_t{7}) + sets + field(7, graph_);
}

}  // namespace sluice::test
