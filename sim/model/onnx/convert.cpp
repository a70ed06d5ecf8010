// From the graph of an ONNX model to a sluice-model/1 document.
#include "model/onnx/convert.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/suggest.hpp"
#include "model/catalog.hpp"
#include "model/layers/shape.hpp"
#include "model/onnx/layout.hpp"
#include "model/onnx/rules.hpp"
#include "model/onnx/weights.hpp"
#include "model/read.hpp"

namespace sluice::onnx_import {
namespace {

class Converter {
 public:
  Converter(const Graph& graph, const std::unordered_set<std::string>& as_zero)
      : graph_(graph), images_(images_of(graph)), weights_(graph), as_zero_(as_zero) {}

  Value layers() {
    mark_needed();
    refuse_unknown();
    for (const std::string& input : graph_.inputs) add_input(input);
    for (const Node* node : live_) add_node(*node);
    return std::move(list_);
  }

  OnnxElements elements() const { return weights_.elements(); }

 private:
  /// What layers read: the layer that makes a tensor, and its shape here.
  struct Made {
    std::string layer;
    Shape shape;
  };

  /// Which nodes the outputs need, as layers: not those that only compute constants.
  void mark_needed() {
    for (const std::string& output : graph_.outputs)
      if (graph_.is_data(output)) needed_.insert(output);
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      const auto is_needed = [&](const std::string& output) { return needed_.count(output) != 0; };
      if (!std::any_of(node->outputs.begin(), node->outputs.end(), is_needed)) continue;
      live_.push_back(&*node);
      for (const std::string& input : node->inputs)
        if (graph_.is_data(input)) needed_.insert(input);
    }
    std::reverse(live_.begin(), live_.end());
    if (live_.empty()) graph_.fail("the outputs do not depend on the inputs");
  }

  void refuse_unknown() const {
    constexpr std::size_t shown = 5;
    std::map<std::string, std::vector<const Node*>> unknown;
    for (const Node* node : live_)
      if (!rule_of(*node) && as_zero_.count(node->op) == 0) unknown[node->op].push_back(node);
    if (unknown.empty()) return;
    std::vector<std::string> words, names;
    for (const auto& [op, nodes] : unknown) {
      std::vector<std::string> which;
      for (const Node* node : nodes) {
        if (which.size() == shown) break;
        which.push_back(node->name.empty() ? "node " + std::to_string(node->line) : node->name);
      }
      if (nodes.size() > shown) which.push_back("...");
      words.push_back(op + ", " + std::to_string(nodes.size()) +
                      (nodes.size() == 1 ? " time (" : " times (") + join(which) + ")");
      names.push_back(op);
    }
    graph_.fail("operators that are not known here: " + join(words, "; ") +
                ". To count them as free: as_zero=[" + join(names) + "]");
  }

  void add_input(const std::string& name) {
    Node node;
    node.line = 1;
    const Shape shape =
        sample_shape(graph_, node, known_shape(graph_, node, name), images_.count(name) != 0);
    Value layer = begin("input", unique(name));
    layer.set("shape", list_of(shape));
    add(std::move(layer), node, name, shape);
  }

  void add_node(const Node& node) {
    Draft draft;
    if (as_zero_.count(node.op) == 0) {
      const OpRule& rule = *rule_of(node);
      draft = rule.draft(Drafting{graph_, node, rule});
    }
    const std::vector<std::string> reads = read_by(node, draft);
    if (draft.is_alias) {
      made_[node.outputs.front()] = made_.at(reads.front());
      return;
    }
    // The first output is the layer; each further one that is needed is a tensor beside it.
    bool main = true;
    for (const std::string& output : node.outputs) {
      if (needed_.count(output) == 0 && !(main && is_known(output))) continue;
      const Shape shape =
          sample_shape(graph_, node, known_shape(graph_, node, output), images_.count(output) != 0);
      if (!main || !add_typed(node, draft, reads, output, shape))
        add_operator(node, main ? draft : Draft{}, reads, output, shape);
      main = false;
    }
  }

  bool is_known(const std::string& output) const {
    const Tensor* tensor = graph_.find(output);
    return tensor && tensor->shape;
  }

  std::vector<std::string> read_by(const Node& node, const Draft& draft) const {
    std::vector<std::string> reads;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!graph_.is_data(node.inputs[i])) continue;
      if (draft.reads.empty() ||
          std::find(draft.reads.begin(), draft.reads.end(), i) != draft.reads.end())
        reads.push_back(node.inputs[i]);
    }
    if (reads.empty()) graph_.fail(node, node.op + " reads nothing that a layer makes");
    return reads;
  }

  Value begin(const std::string& type, const std::string& name) const {
    Value layer = Value::make_map();
    layer.set("type", Value::make(type));
    layer.set("name", Value::make(name));
    return layer;
  }

  static Value list_of(const Shape& shape) {
    Value list = Value::make_list();
    for (const std::int64_t extent : shape) list.items().push_back(Value::make(extent));
    return list;
  }

  void set_inputs(Value& layer, const std::vector<std::string>& reads) const {
    if (reads.size() == 1 && made_.at(reads.front()).layer == last_) return;  // as by default
    Value inputs = Value::make_list();
    for (const std::string& read : reads)
      inputs.items().push_back(Value::make(made_.at(read).layer));
    layer.set("inputs", std::move(inputs));
  }

  /// A layer of the draft's type, if the catalog agrees with ONNX on its shape.
  bool add_typed(const Node& node, const Draft& draft, const std::vector<std::string>& reads,
                 const std::string& output, const Shape& shape) {
    const LayerType* type = layer_catalog().find_or_null(draft.type);
    if (!type) return false;
    Value layer = begin(draft.type, name_of(node, output));
    set_inputs(layer, reads);
    for (const auto& [key, value] : draft.keys) layer.set(key, value);
    if (draft.with_shape) layer.set("shape", list_of(shape));
    if (draft.type == "concat" && !set_axis(layer, reads, shape)) return false;
    std::vector<const Shape*> shapes;
    for (const std::string& read : reads) shapes.push_back(&made_.at(read).shape);
    LayerCounts counts;
    try {
      counts = type->infer(Reader(layer, layer_record(*type)), shapes);
    } catch (const InputError&) {
      return false;
    }
    if (counts.shape != shape || !weights_.claim(node, draft, counts.parameters, layer))
      return false;
    add(std::move(layer), node, output, shape);
    return true;
  }

  /// The axis along which a concatenation grows.
  bool set_axis(Value& layer, const std::vector<std::string>& reads, const Shape& shape) const {
    const Shape& first = made_.at(reads.front()).shape;
    if (first.size() != shape.size()) return false;
    const auto differ = std::mismatch(shape.begin(), shape.end(), first.begin());
    const auto axis = differ.first - shape.begin();
    if (axis + 1 != static_cast<std::ptrdiff_t>(shape.size()))
      layer.set("axis", Value::make(static_cast<std::int64_t>(axis)));
    return true;
  }

  void add_operator(const Node& node, const Draft& draft, const std::vector<std::string>& reads,
                    const std::string& output, const Shape& shape) {
    Value layer = begin("operator", name_of(node, output));
    set_inputs(layer, reads);
    if (!draft.each || !is_stretched(layer, reads, shape)) layer.set("shape", list_of(shape));
    const auto count = [&](const char* key, std::int64_t value) {
      if (value > 0) layer.set(key, Value::make(value));
    };
    count("macs", draft.macs);
    count("flop", draft.flop);
    count("input_flop", draft.input_flop);
    count("parameters", weights_.claim_all(node, draft, layer.find("name")->text()));
    if (!draft.keeps.empty()) layer.set("keeps", Value::make(draft.keeps));
    add(std::move(layer), node, output, shape);
  }

  /// Whether `shape` is what the shapes of the inputs stretch to.
  bool is_stretched(const Value& layer, const std::vector<std::string>& reads,
                    const Shape& shape) const {
    const Reader keys(layer, layer_record(layer_catalog().find("operator")));
    Shape all = made_.at(reads.front()).shape;
    try {
      for (const std::string& read : reads) all = stretched(keys, all, made_.at(read).shape);
    } catch (const InputError&) {
      return false;
    }
    return all == shape;
  }

  void add(Value layer, const Node& node, const std::string& output, const Shape& shape) {
    if (list_.items().size() == most_layers)
      graph_.fail("more than " + std::to_string(most_layers) + " layers");
    place(layer, node.line);
    last_ = layer.find("name")->text();
    made_[output] = {last_, shape};
    list_.items().push_back(std::move(layer));
  }

  void place(Value& value, int line) const {
    value.place(graph_.listing, line, 1);
    for (Value& item : value.items()) place(item, line);
    for (Value::Entry& entry : value.entries()) {
      entry.line = line;
      entry.column = 1;
      place(entry.value, line);
    }
  }

  std::string name_of(const Node& node, const std::string& output) {
    return unique(node.name.empty() ? output : node.name);
  }

  /// A layer's name that no other layer has, and that is no word of the format.
  std::string unique(const std::string& wanted) {
    std::string base = clean(wanted);
    if (base.empty() || base == "before") base += "_";
    std::string name = base;
    while (!names_.insert(name).second) name = base + "_" + std::to_string(++repeated_[base]);
    return name;
  }

  const Graph& graph_;
  const std::unordered_set<std::string> images_;
  Weights weights_;
  const std::unordered_set<std::string>& as_zero_;  ///< operators
  std::unordered_set<std::string> needed_;          ///< tensors
  std::vector<const Node*> live_;
  std::unordered_map<std::string, Made> made_;
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, int> repeated_;
  std::string last_;
  Value list_ = Value::make_list();
};

}  // namespace

Converted convert(const Graph& graph, const std::unordered_set<std::string>& as_zero) {
  Converter converter(graph, as_zero);
  Value layers = converter.layers();
  return {std::move(layers), converter.elements()};
}

}  // namespace sluice::onnx_import
