// Helpers for the tests of the ONNX reader. Some helpers read the bytes of a file. The others return the message with
// which the bytes are refused.
#pragma once

#include <string>
#include <vector>

#include "base/dtype.hpp"
#include "model/importer.hpp"
#include "model/kept.hpp"
#include "model/onnx/onnx.hpp"
#include "support/models.hpp"
#include "support/onnx_bytes.hpp"

namespace sluice::test {

struct ReadOnnx {
  Model model;
  Value definition;
  OnnxElements elements;
  std::vector<std::string> notes;
};

/// Reads the bytes as an ONNX file. `use` has the keys that a scenario gives under `model`, without the key `file`.
inline ReadOnnx read_bytes(const std::string& bytes, const std::string& use = "{}") {
  const Value mapping = parse_text(use, "s.yaml");
  const Importer& importer = importer_for("m.onnx");
  const Record record{.name = "model", .fields = importer.parameters, .open = true};
  ReadOnnx read;
  Imported imported = read_onnx(bytes, "m.onnx", Reader(mapping, record), &read.elements);
  read.definition = std::move(imported.definition);
  read.notes = std::move(imported.notes);
  Value whole = Value::make_map();
  whole.set("definition", read.definition);
  read.model = read_model(whole);
  return read;
}

inline ReadOnnx read(const OnnxBytes& bytes, const std::string& use = "{}") {
  return read_bytes(bytes.bytes(), use);
}

/// Reads the bytes, and returns the message of the error with which they are refused. Returns "nothing" if they are not
/// refused.
inline std::string refused_bytes(const std::string& bytes, const std::string& use = "{}") {
  return error_of([&] { read_bytes(bytes, use); });
}

inline std::string refused(const OnnxBytes& bytes, const std::string& use = "{}") {
  return refused_bytes(bytes.bytes(), use);
}

inline const Layer& layer(const Model& model, const std::string& name) {
  for (const Layer& one : model.layers)
    if (one.name == name) return one;
  FAIL("there is no layer " << name);
  throw std::logic_error("not reached");
}

inline std::string types(const Model& model) {
  std::string text;
  for (const Layer& one : model.layers) text += (text.empty() ? "" : " ") + one.type;
  return text;
}

/// Returns how many bytes all layers of the model together keep for the backward pass, in float32.
inline std::int64_t kept_bytes(const Model& model) {
  const auto last = static_cast<std::uint32_t>(model.layers.size() - 1);
  return bytes_of(kept_for(model, 0, last).in_all(model), DType::float32);
}

}  // namespace sluice::test
