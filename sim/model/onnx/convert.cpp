// Converts the graph of an ONNX model to a sluice-model/1 document.
#include "model/onnx/convert.hpp"

#include <algorithm>
#include <map>
#include <optional>
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

  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    for (const auto& [lack, nodes] : without_type_)
      notes.push_back(
          "counted as layers of type 'operator', with a cost per element, because no layer type has " +
          lack + ": " + words_of(nodes));
    notes.insert(notes.end(), turned_tables_.begin(), turned_tables_.end());
    return notes;
  }

 private:
  /// A tensor that a layer can read. `layer` is the layer that makes the tensor, and `shape` is the tensor's shape for
  /// one sample, in the order of Sluice's axes.
  struct MadeTensor {
    std::string layer;
    Shape shape;
  };

  /// Finds the nodes that become layers. A node becomes a layer if an output of the model depends on it. But a node
  /// that computes constants does not become a layer.
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

  static std::string word_of(const Node& node) {
    return node.name.empty() ? "node " + std::to_string(node.line) : node.name;
  }

  /// Returns the names of at most five of the nodes.
  static std::string words_of(const std::vector<const Node*>& nodes) {
    constexpr std::size_t shown = 5;
    std::vector<std::string> words;
    for (std::size_t i = 0; i < std::min(nodes.size(), shown); ++i)
      words.push_back(word_of(*nodes[i]));
    if (nodes.size() > shown) words.push_back("...");
    return join(words);
  }

  void refuse_unknown() const {
    std::map<std::string, std::vector<const Node*>> unknown;
    for (const Node* node : live_)
      if (!rule_of(*node) && as_zero_.count(node->op) == 0) unknown[node->op].push_back(node);
    if (unknown.empty()) return;
    std::vector<std::string> words, names;
    for (const auto& [op, nodes] : unknown) {
      words.push_back(op + ", " + std::to_string(nodes.size()) +
                      (nodes.size() == 1 ? " time (" : " times (") + words_of(nodes) + ")");
      names.push_back(op);
    }
    graph_.fail("unknown operators: " + join(words, "; ") +
                ". To count these operators as free, use as_zero=[" + join(names) + "]");
  }

  void add_input(const std::string& name) {
    Node node;
    node.line = 1;
    const Shape shape = shape_here(node, name);
    Value layer = begin("input", unique(name));
    layer.set("shape", list_of(shape));
    made_[name] = add(std::move(layer), node, shape);
  }

  Shape shape_here(const Node& node, const std::string& tensor) const {
    return sample_of(graph_, node, known_shape(graph_, node, tensor), images_.count(tensor) != 0)
        .shape;
  }

  Draft draft_of(const Node& node, std::size_t output) const {
    if (as_zero_.count(node.op) != 0) return {};
    const OpRule& rule = *rule_of(node);
    return rule.draft(Drafting{graph_, node, rule, images_, output});
  }

  /// Returns whether the batch is the first axis of each tensor of a node. If so, the axes after it mean the same in
  /// the layer as in ONNX, and an error from the layer type means a fault in the file.
  bool is_batched(const Node& node, std::size_t output) const {
    const Drafting at{graph_, node, *rule_of(node), images_, output};
    const auto batched = [&](const std::string& tensor) {
      return !graph_.is_data(tensor) || at.is_batched(tensor);
    };
    return std::all_of(node.inputs.begin(), node.inputs.end(), batched) &&
           batched(node.outputs[output]);
  }

  void add_node(const Node& node) {
    const Draft draft = draft_of(node, 0);
    note_table(node);
    const std::vector<MadeTensor> reads = read_by(node, draft);
    if (draft.is_alias) {
      made_[node.outputs.front()] = reads.front();
      return;
    }
    // The node's first output is the output of the node's layer. Each other output gets a layer of its own if the model
    // needs this output.
    const MadeTensor* first = nullptr;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const std::string& output = node.outputs[i];
      if (needed_.count(output) == 0 && (first || draft.each_output || !is_known(output))) continue;
      const Shape shape = shape_here(node, output);
      const std::string name = unique(node.name.empty() ? output : node.name);
      MadeTensor made;
      if (first && !draft.each_output)
        made = add_operator(node, {}, {*first}, name, shape);
      else
        made = add_layer(node, i, i == 0 ? draft : draft_of(node, i), reads, name, shape);
      first = &(made_[output] = std::move(made));
    }
  }

  bool is_known(const std::string& output) const {
    const Tensor* tensor = graph_.find(output);
    return tensor && tensor->shape;
  }

  std::vector<MadeTensor> read_by(const Node& node, const Draft& draft) const {
    std::vector<MadeTensor> reads;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!graph_.is_data(node.inputs[i])) continue;
      if (draft.reads.empty() ||
          std::find(draft.reads.begin(), draft.reads.end(), i) != draft.reads.end())
        reads.push_back(made_.at(node.inputs[i]));
    }
    if (reads.empty()) graph_.fail(node, node.op + " does not read the output of any layer");
    return reads;
  }

  static Value begin(const std::string& type, const std::string& name) {
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

  void set_inputs(Value& layer, const std::vector<MadeTensor>& reads) const {
    // By default, a layer reads the layer before it. So a layer that reads only the layer before it needs no key
    // `inputs`.
    if (reads.size() == 1 && reads.front().layer == last_) return;
    Value inputs = Value::make_list();
    for (const MadeTensor& read : reads) inputs.items().push_back(Value::make(read.layer));
    layer.set("inputs", std::move(inputs));
  }

  MadeTensor add_layer(const Node& node, std::size_t output, const Draft& draft,
                       const std::vector<MadeTensor>& reads, const std::string& name,
                       const Shape& shape) {
    const std::optional<MadeTensor> typed = add_typed(node, output, draft, reads, name, shape);
    return typed ? *typed : add_operator(node, draft, reads, name, shape);
  }

  /// Adds a note if an embedding table may be in the file twice. In some models, the last product uses the embedding
  /// table as its weights. Exporters write such a table twice: as it is, and transposed.
  void note_table(const Node& node) {
    const bool looks_up = node.op == "Gather";
    const std::size_t input = looks_up ? 0 : 1;
    const Tensor* weight = node.has_input(input) ? graph_.find(node.inputs[input]) : nullptr;
    if (!weight || weight->weights.size() != 1 || !weight->shape || weight->shape->size() != 2)
      return;
    const Shape &shape = *weight->shape, turned{shape[1], shape[0]};
    const std::uint32_t index = weight->weights.front();
    if (looks_up) {
      tables_.emplace(shape, std::pair(index, &node));
    } else if (node.op == "MatMul" || node.op == "Gemm") {
      const auto table = tables_.find(turned);
      if (table == tables_.end() || table->second.first == index || shape == turned) return;
      turned_tables_.push_back("the weights " + text_of(shape) + " of " + word_of(node) +
                               " may be the table of " + word_of(*table->second.second) +
                               ", transposed: if an exporter wrote the table twice, its " +
                               std::to_string(graph_.weights[index].elements) +
                               " parameters count twice");
      tables_.erase(table);
    }
  }

  void note(const Node& node, const std::string& lack) {
    std::vector<const Node*>& nodes = without_type_[lack];
    if (nodes.empty() || nodes.back() != &node) nodes.push_back(&node);
  }

  /// Adds a layer of the type that the draft of the layer (rules.hpp) names. Returns nothing and adds no layer if this
  /// layer type does not give the output the shape that it has in ONNX.
  std::optional<MadeTensor> add_typed(const Node& node, std::size_t output, const Draft& draft,
                                      std::vector<MadeTensor> reads, const std::string& name,
                                      const Shape& shape) {
    if (!draft.lacks.empty()) note(node, draft.lacks);
    if (draft.type.empty()) return {};
    const LayerType* type = layer_catalog().find_or_null(draft.type);
    if (!type || reads.size() < type->min_inputs || reads.size() > type->max_inputs) {
      note(node, "this number of inputs");
      return {};
    }
    Value layer = begin(draft.type, name);
    for (const auto& [key, value] : draft.keys) layer.set(key, value);
    if (draft.with_shape) layer.set("shape", list_of(shape));
    std::vector<const Shape*> shapes;
    for (const MadeTensor& read : reads)
      shapes.push_back(draft.takes.empty() ? &read.shape : &draft.takes);
    LayerCounts counts;
    try {
      counts = type->infer(Reader(layer, layer_record(*type)), shapes);
    } catch (const InputError& error) {
      if (!draft.each && is_batched(node, output))
        graph_.fail(node, node.op + " as " + draft.type + ": " + error.what());
      note(node, "a first axis that is not the batch");
      return {};
    }
    const Shape& makes = draft.makes.empty() ? shape : draft.makes;
    const bool same = elements_of(*shapes.front()) == elements_of(reads.front().shape) &&
                      elements_of(makes) == elements_of(shape);
    if (counts.shape != makes || !same) {
      note(node, is_batched(node, output) ? "these shapes" : "a first axis that is not the batch");
      return {};
    }
    if (!weights_.claim(node, draft, counts.parameters, layer)) {
      note(node, "weights that are computed, or that another layer shares only in part");
      return {};
    }
    if (!draft.takes.empty()) reads = {viewed(node, reads.front(), draft.takes)};
    set_inputs(layer, reads);
    return viewed(node, add(std::move(layer), node, makes), shape);
  }

  /// Returns the tensor in the shape `shape`. If the tensor has another shape, adds a view.
  MadeTensor viewed(const Node& node, const MadeTensor& made, const Shape& shape) {
    if (made.shape == shape) return made;
    Value layer = begin("reshape", unique(made.layer + "_view"));
    set_inputs(layer, {made});
    layer.set("shape", list_of(shape));
    return add(std::move(layer), node, shape);
  }

  MadeTensor add_operator(const Node& node, const Draft& draft,
                          const std::vector<MadeTensor>& reads, const std::string& name,
                          const Shape& shape) {
    Value layer = begin("operator", name);
    set_inputs(layer, reads);
    if (!draft.each || !is_stretched(layer, reads, shape)) layer.set("shape", list_of(shape));
    const auto count = [&](const char* key, std::int64_t value) {
      if (value > 0) layer.set(key, Value::make(value));
    };
    count("macs", draft.macs);
    count("input_macs", draft.input_macs);
    count("flop", draft.flop);
    count("input_flop", draft.input_flop);
    count("parameters", weights_.claim_all(node, draft, name));
    if (!draft.keeps.empty()) layer.set("keeps", Value::make(draft.keeps));
    count("kept_bytes", draft.kept_bytes);
    if (draft.same_place) layer.set("same_place", Value::make(true));
    return add(std::move(layer), node, shape);
  }

  /// Returns whether `shape` is the common shape to which the inputs are stretched.
  bool is_stretched(const Value& layer, const std::vector<MadeTensor>& reads,
                    const Shape& shape) const {
    const Reader keys(layer, layer_record(layer_catalog().find("operator")));
    Shape all = reads.front().shape;
    try {
      for (const MadeTensor& read : reads) all = stretched(keys, all, read.shape);
    } catch (const InputError&) {
      return false;
    }
    return all == shape;
  }

  MadeTensor add(Value layer, const Node& node, const Shape& shape) {
    if (list_.items().size() == most_layers)
      graph_.fail("more than " + std::to_string(most_layers) + " layers");
    place(layer, node.line);
    last_ = layer.find("name")->text();
    list_.items().push_back(std::move(layer));
    return {last_, shape};
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

  /// Returns a new name for a layer, similar to `wanted`. No other layer has the name, and it is not the word `before`,
  /// which has a meaning in the format.
  std::string unique(const std::string& wanted) {
    std::string base = clean(wanted);
    if (base.empty() || base == "before") base += "_";
    std::string name = base;
    while (!names_.insert(name).second) name = base + "_" + std::to_string(++repeated_[base] + 1);
    return name;
  }

  const Graph& graph_;
  const std::unordered_set<std::string> images_;
  Weights weights_;
  const std::unordered_set<std::string>& as_zero_;  ///< names of operators that count as free
  std::unordered_set<std::string> needed_;  ///< names of the tensors on which the outputs depend
  std::vector<const Node*> live_;
  /// The nodes that no layer type can express. The key is the property that the layer types lack.
  std::map<std::string, std::vector<const Node*>> without_type_;
  /// The embedding tables. The key is the shape of a table. The value holds the index of the table among the weights,
  /// and the node that reads the table.
  std::map<Shape, std::pair<std::uint32_t, const Node*>> tables_;
  /// The notes about embedding tables that may be in the file twice.
  std::vector<std::string> turned_tables_;
  std::unordered_map<std::string, MadeTensor> made_;
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, int> repeated_;
  std::string last_;
  Value list_ = Value::make_list();
};

}  // namespace

Converted convert(const Graph& graph, const std::unordered_set<std::string>& as_zero) {
  Converter converter(graph, as_zero);
  Value layers = converter.layers();
  return {std::move(layers), converter.elements(), converter.notes()};
}

}  // namespace sluice::onnx_import
