// Turns layer graphs of PipeDream into models with measured seconds. A node of the graph becomes an
// input of the model, or a layer of the type `measured`.
#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/quantity.hpp"
#include "base/split.hpp"
#include "document/key.hpp"
#include "model/importer.hpp"
#include "model/pipedream/graph.hpp"

namespace sluice {
namespace pipedream {
namespace {

/// Converts nodes to layers.
class Conversion {
 public:
  Conversion(const Graph& graph, std::int64_t batch, bool loading)
      : graph_(graph), batch_(batch), loading_(loading) {}

  Value layers() {
    Value list = Value::make_list();
    names_.resize(graph_.nodes().size());
    left_out_.resize(graph_.nodes().size(), false);
    for (const std::uint32_t index : graph_.order()) {
      const Node& node = graph_.nodes()[index];
      if ((left_out_[index] = is_left_out(node))) continue;
      if (node.is_input())
        add_input(list, index);
      else
        add_layer(list, index);
    }
    if (list.items().empty() || list.items().front().find("type")->text() != "input")
      graph_.fail(
          0,
          "the graph has no node of the kind Input; add a line like 'node1 -- Input -- forward_compute_time=...'");
    return list;
  }

  std::vector<std::string> notes;

 private:
  Value layer_at(const Node& node, const std::string& type, const std::string& name) const {
    Value layer = Value::make_map();
    layer.place(graph_.source(), node.line, 1);
    const auto text = [&](const char* key, std::string word) {
      Value value = Value::make(std::move(word));
      value.place(graph_.source(), node.line, 1);
      layer.set(key, std::move(value));
    };
    text("type", type);
    text("name", name);
    return layer;
  }

  Value placed(const Node& node, Value value) const {
    value.place(graph_.source(), node.line, 1);
    for (Value& item : value.items()) item.place(graph_.source(), node.line, 1);
    return value;
  }

  Value shape_of(const Node& node) const {
    Value shape = Value::make_list();
    shape.items().push_back(Value::make(elements_of(node)));
    return placed(node, std::move(shape));
  }

  /// Returns whether a node is left out. A call of size() is left out, because its result is a number. A state is left
  /// out, too: a value that passes from one call of a layer to the next call, for example in a recurrent layer. A node
  /// is taken for a state if it has no times and no bytes, and all its inputs are left out.
  bool is_left_out(const Node& node) const {
    if (node.is_size()) return true;
    if (node.is_input() || node.activation_bytes > 0 || node.parameters > 0) return false;
    if (graph_.number_of(node.line, node.forward) > 0 ||
        graph_.number_of(node.line, node.backward) > 0)
      return false;
    return std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](std::uint32_t input) { return left_out_[input]; });
  }

  /// Returns the number of elements of a node's output for one sample. If the file gives a size of 0, the size was not
  /// measured, and the output counts as one element.
  std::int64_t elements_of(const Node& node) const {
    if (node.activation_bytes == 0) return 1;
    const std::int64_t sample = checked_mul(batch_, element_bytes, "bytes");
    if (node.activation_bytes % sample != 0)
      graph_.fail(node.line, "activation_size of " + std::to_string(node.activation_bytes) +
                                 " bytes is not a whole number of float32 elements for each of " +
                                 std::to_string(batch_) + " samples; check the value of batch");
    return node.activation_bytes / sample;
  }

  void set_seconds(Value& layer, const Node& node) const {
    layer.set("forward", placed(node, Value::make(std::string(node.forward) + "ms")));
    layer.set("backward", placed(node, Value::make(std::string(node.backward) + "ms")));
  }

  void add_input(Value& list, std::uint32_t index) {
    const Node& node = graph_.nodes()[index];
    if (!node.inputs.empty()) graph_.fail(node.line, "an Input must not read another node");
    note_size(node);
    names_[index] = std::string(node.id) + "-Input";
    Value layer = layer_at(node, "input", names_[index]);
    layer.set("shape", shape_of(node));
    list.items().push_back(std::move(layer));
    if (graph_.number_of(node.line, node.forward) == 0) return;
    const std::string what = "the " + std::string(node.forward) + " ms of '" +
                             std::string(node.id) + "' for loading data are ";
    notes.push_back(what +
                    (loading_ ? "counted" : "left out (use loading: counted to include them)"));
    if (!loading_) return;
    Value work = layer_at(node, "measured", std::string(node.id) + "-loading");
    set_inputs(work, node, {names_[index]});
    work.set("keeps", placed(node, Value::make(std::string("nothing"))));
    set_seconds(work, node);
    names_[index] = std::string(node.id) + "-loading";
    list.items().push_back(std::move(work));
  }

  void note_size(const Node& node) {
    if (node.activation_bytes == 0)
      notes.push_back("the file has a size of 0 for '" + std::string(node.id) +
                      "'; this size counts as one element");
  }

  void set_inputs(Value& layer, const Node& node, const std::vector<std::string>& names) const {
    Value inputs = Value::make_list();
    for (const std::string& name : names) inputs.items().push_back(Value::make(name));
    layer.set("inputs", placed(node, std::move(inputs)));
  }

  void add_layer(Value& list, std::uint32_t index) {
    const Node& node = graph_.nodes()[index];
    std::vector<std::string> inputs;
    for (const std::uint32_t input : node.inputs)
      if (!left_out_[input]) inputs.push_back(names_[input]);
    if (inputs.empty())
      graph_.fail(node.line, "'" + std::string(node.id) + "' reads no node and is not an Input");
    note_size(node);
    names_[index] = std::string(node.id) + "-" + std::string(node.kind);
    Value layer = layer_at(node, "measured", names_[index]);
    set_inputs(layer, node, inputs);
    layer.set("shape", shape_of(node));
    if (node.parameters > 0) layer.set("parameters", placed(node, Value::make(node.parameters)));
    if (const std::int64_t macs = macs_of(node); macs > 0)
      layer.set("macs", placed(node, Value::make(macs)));
    if (node.kind == "Dropout")  // the mask of the dropout has one byte per element
      layer.set("kept_bytes", placed(node, Value::make(std::to_string(elements_of(node)) + "B")));
    layer.set("keeps", placed(node, Value::make(std::string(keeps(node.kind)))));
    set_seconds(layer, node);
    list.items().push_back(std::move(layer));
  }

  /// Returns the value of the key `keeps` for a node of this kind: which tensors its backward pass reads. For unknown
  /// kinds, the value is `inputs`.
  static std::string_view keeps(std::string_view kind) {
    for (const std::string_view word : {"ReLU", "ReLU6", "Sigmoid", "Tanh", "Softmax"})
      if (kind == word) return "output";
    for (const std::string_view word : {"Add", "Concat", "View", "Dropout", "AvgPool2d", "Mean"})
      if (kind == word) return "nothing";
    return "inputs";
  }

  /// Returns the multiply-accumulates of a convolution or a linear layer: the number of weights x the number of
  /// positions in the output. Returns 0 for other kinds.
  std::int64_t macs_of(const Node& node) const {
    std::string_view outputs;
    if (node.kind == "Conv2d")
      outputs = argument(node, 1);
    else if (node.kind == "Linear")
      outputs = argument(node, "out_features=");
    std::int64_t channels = 0;
    std::from_chars(outputs.data(), outputs.data() + outputs.size(), channels);
    if (channels < 1) return 0;
    const bool bias = argument(node, "bias=") != "False";
    const std::int64_t weights = node.parameters - (bias ? channels : 0);
    const std::int64_t elements = elements_of(node);
    if (elements % channels != 0 || weights < 0)
      graph_.fail(node.line, std::to_string(elements) + " elements per sample and " +
                                 std::to_string(node.parameters) + " parameters do not make " +
                                 std::to_string(channels) +
                                 " output channels; check the value of batch");
    return checked_mul(weights, elements / channels, "multiply-accumulates");
  }

  /// These two functions return an argument in the node's brackets, or "" if there is no such argument. The first finds
  /// the argument by its position. The second finds the argument that begins with the text `key`, and returns the rest
  /// of this argument.
  static std::string_view argument(const Node& node, std::size_t position) {
    const auto parts = split(node.arguments, ", ");
    return position < parts.size() ? parts[position] : std::string_view();
  }
  static std::string_view argument(const Node& node, std::string_view key) {
    const std::size_t at = node.arguments.find(key);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = node.arguments.substr(at + key.size());
    return rest.substr(0, rest.find(", "));
  }

  const Graph& graph_;
  std::int64_t batch_;
  bool loading_;
  std::vector<std::string> names_;
  std::vector<bool> left_out_;  ///< for each node, whether it is left out
};

std::string stem_of(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name.substr(0, name.rfind(".graph.txt"));
}

Imported read(std::string_view bytes, const std::string& path, const Reader& keys) {
  const auto source = std::make_shared<const Source>(Source{path, std::string(bytes)});
  const Graph graph(source);
  const std::int64_t batch = keys.integer("batch");
  Conversion conversion(graph, batch, keys.text("loading") == "counted");
  Value layers = conversion.layers();
  Imported imported;
  imported.notes = std::move(conversion.notes);
  Value& model = imported.definition = Value::make_map();
  model.place(source, 1, 1);
  model.set("format", Value::make(std::string("sluice-model/1")));
  model.set("name", Value::make(stem_of(path)));
  model.set(
      "summary",
      Value::make("Measured by PipeDream's profiler for " + std::to_string(batch) + " samples" +
                  (imported.notes.empty() ? "" : "; " + imported.notes.front()) + "."));
  model.set("source", Value::make(std::filesystem::path(path).filename().string()));
  model.set("measured_batch", Value::make(batch));
  model.set("layers", std::move(layers));
  return imported;
}

}  // namespace
}  // namespace pipedream

extern const Importer pipedream_importer = {
    .name = "pipedream",
    .summary =
        "Reads layer graphs of PipeDream's profiler, with the measured seconds of each layer.",
    .source = "Narayanan et al., PipeDream (SOSP 2019), section 3.1",
    .ending = ".graph.txt",
    .parameters =
        {Key::integer(
             "batch",
             "the number of samples that were measured together. The file does not say this number")
             .at_least(1),
         Key::choice(
             "loading", {"left_out", "counted"},
             "what to do with the time of a node of the kind Input. This is the time for loading data")
             .by_default("left_out")},
    .read = pipedream::read,
};

}  // namespace sluice
