// Writes ONNX files for tests byte by byte, so that tests can write invalid files, too. Sources: onnx.proto, version
// 1.12, and the page Encoding of Protocol Buffers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {

/// Returns the bytes of field `number` of a protobuf message. The field holds an integer, or the bytes of a text or of
/// an embedded message.
std::string field(int number, std::int64_t value);
std::string field(int number, std::string_view bytes);

struct OnnxAttribute {
  static OnnxAttribute integer(std::string name, std::int64_t value);
  static OnnxAttribute number(std::string name, float value);
  static OnnxAttribute text(std::string name, std::string_view value);
  static OnnxAttribute integers(std::string name, const std::vector<std::int64_t>& values);
  static OnnxAttribute graph(std::string name, std::string_view message);
  std::string message;
};

/// The extent of one axis of a shape: a number, or the name of a symbolic extent.
struct OnnxDim {
  OnnxDim(int value) : extent(value) {}        // NOLINT: for short notation
  OnnxDim(const char* name) : symbol(name) {}  // NOLINT
  std::int64_t extent = 0;
  std::string symbol;
};

enum OnnxElement { onnx_float = 1, onnx_int64 = 7, onnx_bool = 9 };

/// Builds an ONNX model of opset 13, one part per call.
class OnnxBytes {
 public:
  OnnxBytes& opset(std::int64_t version, std::string_view domain = "");
  OnnxBytes& input(const std::string& name, const std::vector<OnnxDim>& shape,
                   OnnxElement element = onnx_float);
  OnnxBytes& output(const std::string& name);
  /// Adds a `value_info`: the shape and the element type of a tensor.
  OnnxBytes& shape(const std::string& name, const std::vector<OnnxDim>& shape,
                   OnnxElement element = onnx_float);
  /// Adds an initialiser with a shape but without data.
  OnnxBytes& weight(const std::string& name, const std::vector<std::int64_t>& shape,
                    std::string_view more = {});
  /// Adds an initialiser of type int64 with one axis, which holds `values`.
  OnnxBytes& numbers(const std::string& name, const std::vector<std::int64_t>& values);
  OnnxBytes& scalar(const std::string& name, float value);
  OnnxBytes& node(const std::string& op, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs,
                  const std::vector<OnnxAttribute>& attributes = {}, std::string_view name = {},
                  std::string_view domain = {});

  std::string bytes() const;
  const std::string& graph() const { return graph_; }

 private:
  std::string graph_, sets_;
  bool has_opset_ = false;
};

}  // namespace sluice::test
