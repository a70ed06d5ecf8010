// The importer of ONNX models. This file has the record of the importer, and makes the document around the layers.
#include <algorithm>
#include <filesystem>

#include "base/suggest.hpp"
#include "document/foreign.hpp"
#include "document/key.hpp"
#include "model/onnx/convert.hpp"

namespace sluice::onnx_import {
namespace {

/// Returns the operators in `known` that `name` means. `name` is a whole name such as "com.example.FancyAct", or only
/// its last part, "FancyAct".
std::vector<std::string> operators_named(const std::string& name,
                                         const std::vector<std::string>& known) {
  std::vector<std::string> found;
  for (const std::string& op : known)
    if (op == name || (op.size() > name.size() && op.ends_with("." + name))) found.push_back(op);
  return found;
}

/// Returns the operators' names without their domains: "FancyAct" for "com.example.FancyAct".
std::vector<std::string> short_names(const std::vector<std::string>& known) {
  std::vector<std::string> names;
  for (const std::string& op : known) names.push_back(op.substr(op.rfind('.') + 1));
  return names;
}

/// Reads the key `as_zero`: one operator, or a list of operators.
std::unordered_set<std::string> read_as_zero(const Graph& graph, const Reader& keys) {
  std::unordered_set<std::string> as_zero;
  const Value* given = keys.value("as_zero");
  if (!given) return as_zero;
  if (given->is_map() || (given->is_scalar() && given->kind() != Value::Kind::string))
    keys.fail("as_zero", "expected an operator or a list of operators for 'as_zero', like [Gelu]");
  std::vector<std::string> known;
  for (const Node& node : graph.nodes)
    if (std::find(known.begin(), known.end(), node.op) == known.end()) known.push_back(node.op);
  for (const Value& item : given->is_list() ? given->items() : std::vector<Value>{*given}) {
    const std::vector<std::string> found = operators_named(item.text(), known);
    if (item.text().empty() || found.empty())
      fail_at(item, "'" + item.text() + "' in 'as_zero': the model has no such operator" +
                        did_you_mean(item.text(), short_names(known)) + "; it has: " + join(known));
    as_zero.insert(found.begin(), found.end());
  }
  return as_zero;
}

Imported document_of(const Graph& graph, Converted converted, const std::string& path) {
  const OnnxElements& elements = converted.elements;
  Imported imported;
  imported.notes = std::move(converted.notes);
  Value& model = imported.definition = Value::make_map();
  model.place(graph.listing, 1, 1);
  const auto set = [&](const char* key, std::string text) {
    Value value = Value::make(std::move(text));
    value.place(graph.listing, 1, 1);
    model.set(key, std::move(value));
  };
  set("format", "sluice-model/1");
  set("name", clean(graph.name).empty() ? "model" : clean(graph.name));
  set("summary", "Imported from ONNX, opset " + std::to_string(graph.opset) + ".");
  set("source", clean(std::filesystem::path(path).filename().string()));
  converted.layers.place(graph.listing, 1, 1);
  model.set("layers", std::move(converted.layers));
  if (elements.statistics > 0)
    imported.notes.push_back(std::to_string(elements.statistics) +
                             " elements of running means and variances are not parameters");
  if (elements.quantised > 0)
    imported.notes.push_back(
        std::to_string(elements.quantised) +
        " elements of quantised weights are parameters; the scales and zero points of these weights are not "
        "parameters");
  if (elements.unused > 0)
    imported.notes.push_back(std::to_string(elements.unused) +
                             " elements of constants are not parameters");
  return imported;
}

}  // namespace
}  // namespace sluice::onnx_import

namespace sluice {

Imported read_onnx(std::string_view bytes, const std::string& path, const Reader& keys,
                   OnnxElements* elements) {
  using namespace onnx_import;
  const Graph graph = read_graph(bytes, path, keys);
  Converted converted = convert(graph, read_as_zero(graph, keys));
  if (elements) *elements = converted.elements;
  return document_of(graph, std::move(converted), path);
}

namespace {

Imported read(std::string_view bytes, const std::string& path, const Reader& keys) {
  return read_onnx(bytes, path, keys);
}

}  // namespace

extern const Importer onnx_importer = {
    .name = "onnx",
    .summary =
        "Reads ONNX models: shapes are inferred, operators become layers, and weights are not read.",
    .source = "ONNX operator schemas, version 1.12 (opset 17)",
    .ending = ".onnx",
    .parameters =
        {Key::integer(
             "batch",
             "the number of samples in the inputs. It is the extent of the axis with the name batch, or of the first "
             "axis if no axis has this name. By default it is the extent in the file, or 1 if the file gives no "
             "extent for this axis. The counts of layers are per sample")
             .or_absent()
             .at_least(1),
         Key::any(
             "as_zero",
             "an operator, or a list of operators, that are assumed to cost nothing: they have outputs, but compute "
             "nothing")
             .or_absent(),
         Key::mapping(
             "shapes",
             "for tensors whose shapes are not in the file and cannot be inferred: the shapes, including the batch")
             .or_absent()},
    .open = true,
    .isolated = true,
    .read = read,
};

}  // namespace sluice
