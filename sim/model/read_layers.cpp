// Expands a sluice-model/1 document. The code writes out repetitions and blocks, evaluates expressions, finds inputs,
// and computes the shape and counts of each layer.
#include <utility>

#include "base/suggest.hpp"
#include "document/load.hpp"
#include "document/record.hpp"
#include "model/blocks.hpp"
#include "model/catalog.hpp"
#include "model/config.hpp"
#include "model/field.hpp"
#include "model/layer_count.hpp"
#include "model/layers/shape.hpp"
#include "model/parameters.hpp"
#include "model/read.hpp"

namespace sluice {
namespace {

class Expansion {
 public:
  /// `blocks` is the document's mapping of blocks, or null if the document has no blocks.
  Expansion(Model& model, Parameters parameters, const Value* blocks)
      : model_(model), names_(model), parameters_(std::move(parameters)), blocks_(blocks) {}

  /// Adds a list of layers to the model. Appends `suffix` to their names: the numbers of the repetitions and the names
  /// of the blocks around the list, such as ".2", ".2.1" or ".2.encoder".
  void run(const Value& layers, const std::string& suffix) {
    for (const Value& item : layers.items()) {
      if (!item.is_map())
        fail_at(item, "expected a layer like {type: relu}, got " + std::string(item.kind_name()));
      if (item.find("repeat"))
        repeat(item, suffix);
      else if (item.find("block"))
        use_block(item, suffix);
      else
        add(item, suffix);
    }
  }

 private:
  void repeat(const Value& item, const std::string& suffix) {
    const Reader keys(item, repeat_record());
    const Value count = resolved(*keys.value("repeat"));
    if (count.kind() != Value::Kind::integer || count.as_integer() < 0)
      fail_at(count, "'" + count.text() + "' for 'repeat': expected an integer of at least 0");
    const Value& layers = *keys.value("layers");
    if (layers.items().empty()) fail_at(layers, "'layers' is empty, expected at least one layer");
    for (std::int64_t i = 1; i <= count.as_integer(); ++i)
      run_inside(layers, suffix + "." + std::to_string(i), {previous_, around_.inputs});
  }

  /// Adds the layers inside a repetition or a block. By default, the first of these layers reads the layer before the
  /// repetition or the block.
  void run_inside(const Value& layers, const std::string& suffix, Surroundings around) {
    previous_ = around.before;
    std::swap(around, around_);
    run(layers, suffix);
    std::swap(around, around_);
  }

  void use_block(const Value& item, const std::string& suffix) {
    const Value& word = *item.find("block");
    const Value& block = find_block(blocks_, word);
    for (const std::string& open : open_blocks_)
      if (open == word.text()) fail_at(word, "the block '" + open + "' contains itself");
    const Value* layers = block.find("layers");
    if (layers->items().empty()) fail_at(*layers, "'layers' is empty, expected at least one layer");
    Value use = item;
    for (Value::Entry& entry : use.entries())
      if (entry.key != "block" && entry.key != "name" && entry.key != "inputs")
        entry.value = resolved(entry.value);
    const Value* name = item.find("name");
    if (name && (!name->is_scalar() || name->text().empty()))
      fail_at(*name, "expected a name for 'name', got " + std::string(name->kind_name()));

    Parameters scope = read_block_parameters(block, word.text(), use);
    // Inside a block, a parameter of the block hides a parameter with the same name outside of the block.
    scope.insert(parameters_.begin(), parameters_.end());
    Surroundings around = given_to_block(block, item, names_, suffix, around_, previous_);
    scope.swap(parameters_);
    open_blocks_.push_back(word.text());
    try {
      run_inside(*layers, name ? suffix + "." + name->text() : suffix, std::move(around));
    } catch (const InputError& error) {
      const Position where = item.position();
      throw error.noted("in the block '" + word.text() + "', used at " + where.file + ":" +
                        std::to_string(where.line) + ":" + std::to_string(where.column));
    }
    open_blocks_.pop_back();
    scope.swap(parameters_);
  }

  /// If `value` is a string, it is an expression: returns the value of the expression. Otherwise, returns `value`
  /// itself.
  Value resolved(const Value& value) const {
    if (value.kind() != Value::Kind::string) return value;
    const std::int64_t integer =
        located(value, [&] { return evaluate(value.text(), parameters_); });
    Value made = Value::make(integer);
    if (value.source()) {
      const Position where = value.position();
      made.place(value.source(), where.line, where.column);
    }
    return made;
  }

  static bool takes_integers(const Field& field) {
    // A key of the type `any` takes an integer or a list of integers. Examples are the keys `kernel` and `padding`.
    return field.type == Type::integer || field.type == Type::list || field.type == Type::any;
  }

  static bool is_expression(const Value& value, const Field& field) {
    if (value.is_list()) {
      for (const Value& item : value.items())
        if (item.kind() == Value::Kind::string) return true;
      return false;
    }
    if (value.kind() != Value::Kind::string) return false;
    for (const std::string& word : field.choices)
      if (word == value.text()) return false;
    // A word without an operator and without a parameter is taken for a typing mistake, not for an expression. So
    // Reader throws an error that lists the allowed values.
    return value.text().find_first_of("$+*/()") != std::string::npos;
  }

  /// Returns the value of an expression, as a number or as a boolean. A number may be a percentage, such as
  /// "$dropout%". A boolean is true unless the expression's value is 0.
  Value resolved_as(const Value& value, Type type) const {
    std::string text = value.text();
    const bool percent = type == Type::number && text.back() == '%';
    if (percent) text.pop_back();
    const std::int64_t integer = located(value, [&] { return evaluate(text, parameters_); });
    Value made = type == Type::boolean
                     ? Value::make(integer != 0)
                     : Value::make(static_cast<double>(integer) / (percent ? 100 : 1));
    if (value.source()) {
      const Position where = value.position();
      made.place(value.source(), where.line, where.column);
    }
    return made;
  }

  /// Returns the layer's mapping, with values instead of expressions. Returns null if the mapping has no expressions.
  Value evaluated(const Value& item, const LayerType& type) const {
    Value copy;
    for (const Field& field : type.parameters) {
      const bool other = field.type == Type::number || field.type == Type::boolean;
      const Value* value = takes_integers(field) || other ? item.find(field.name) : nullptr;
      if (!value || !is_expression(*value, field)) continue;
      if (!copy.is_map()) copy = item;
      Value& place = *copy.find(field.name);
      if (other)
        place = resolved_as(place, field.type);
      else if (place.is_list())
        for (Value& element : place.items()) element = resolved(element);
      else
        place = resolved(place);
    }
    return copy;
  }

  const LayerType& type_of(const Value& item) const {
    const Value* type = item.find("type");
    if (!type)
      fail_at(item, "the key 'type' is missing in a layer; known types: " +
                        join(layer_catalog().names()));
    return located(*type, [&]() -> const LayerType& { return layer_catalog().find(type->text()); });
  }

  void add(const Value& item, const std::string& suffix) {
    const LayerType& type = type_of(item);
    const Value copy = evaluated(item, type);
    const Reader keys(copy.is_map() ? copy : item, layer_record(type));

    Layer layer;
    layer.type = type.name;
    layer.name = keys.has("name") ? keys.text("name") + suffix
                                  : type.name + std::to_string(model_.layers.size() + 1);
    check_name(keys);
    layer.inputs = inputs_of(keys, type, suffix);
    if (model_.layers.empty() && type.min_inputs > 0)
      keys.fail("type", "the first layer must be of type input, got " + type.name);
    if (type.does_nothing && type.does_nothing(keys) && !layer.inputs.empty() &&
        !keys.has("forward") && !keys.has("backward"))
      return leave_out(layer, keys);
    std::vector<const Shape*> shapes;
    std::vector<const Layer*> sources;
    for (const std::uint32_t input : layer.inputs) {
      sources.push_back(&model_.layers[input]);
      shapes.push_back(&sources.back()->shape);
    }
    located(item, [&] {
      LayerCounts counts = type.infer(keys, shapes);
      layer.shape = std::move(counts.shape);
      layer.output = elements_of(layer.shape);
      layer.parameters = counts.parameters;
      layer.weights_read = counts.weights_read;
      layer.macs = counts.macs;
      layer.flop = counts.flop;
      layer.cached = counts.cached;
      layer.backward = counts.backward;
      count_elements(layer);
      layer.sparsity = counts.sparsity;
      layer.field = field_of(counts.dependence, layer.shape, sources);
    });
    layer.config = config_of(type, keys);
    for (const Shape* shape : shapes) layer.input_shapes.push_back(*shape);
    read_seconds(keys, layer);
    leave_out_gradients(layer);
    if (keys.has("tied")) tie(layer, keys, type, suffix);
    const auto index = static_cast<std::uint32_t>(model_.layers.size());
    if (!names_.add(layer.name, index))
      keys.fail("name", "duplicate layer name '" + layer.name + "'");
    model_.layers.push_back(std::move(layer));
    previous_ = index;
  }

  /// Adds the elements of a layer to the elements of the model. Throws an error if the bytes of all elements up to this
  /// layer do not fit into 64 bits. So later sums over layers cannot overflow. The check is made here because the
  /// position of the layer is known here.
  void count_elements(const Layer& layer) {
    // The widest dtype has 8 B. An element may need 4 x 8 B: for a weight, its gradient, and two values of Adam.
    constexpr std::int64_t most_bytes_each = 32;
    for (const std::int64_t elements :
         {layer.output, layer.parameters, layer.cached, layer.backward.kept})
      elements_ = checked_add(elements_, elements, "elements");
    checked_mul(elements_, most_bytes_each, "bytes of the layers up to this one");
  }

  /// Leaves the layer out of the model. Its name then means its first input, for the layers that follow.
  void leave_out(const Layer& layer, const Reader& keys) {
    previous_ = layer.inputs.front();
    if (keys.has("name") && !names_.add(layer.name, *previous_))
      keys.fail("name", "duplicate layer name '" + layer.name + "'");
  }

  void check_name(const Reader& keys) const {
    if (!keys.has("name")) return;
    const std::string name = keys.text("name");
    if (name == before_word)
      keys.fail(
          "name",
          "'before' cannot be a layer's name: in 'inputs' it means the layer before the repetition or the block");
    for (const auto& [given, layer] : around_.inputs)
      if (given == name)
        keys.fail("name",
                  "'" + name + "' cannot be a layer's name: an input of the block has this name");
  }

  /// Ties the layer to the earlier layer whose weights it shares. The layer may have a bias of its own.
  void tie(Layer& layer, const Reader& keys, const LayerType& type,
           const std::string& suffix) const {
    const Value& name = *keys.value("tied");
    const std::uint32_t target = names_.find(name, "tied", suffix, around_);
    const Layer& other = model_.layers[target];
    const std::string start = "'" + name.text() + "' for 'tied': ";
    if (other.tied)
      keys.fail("tied", start + "it shares the weights of '" + model_.layers[*other.tied].name +
                            "': name that layer instead");
    if (layer.parameters == 0)
      keys.fail("tied", start + "a layer of type " + type.name + " has no weights to share");
    if (other.parameters == 0)
      keys.fail("tied", start + "it is of type " + other.type + " and has no weights to share");
    bool bias = false;
    for (const Field& field : type.parameters)
      if (field.name == "bias") bias = keys.boolean("bias");
    const std::int64_t own = layer.parameters - other.parameters;
    if (own != 0 && !(bias && own == layer.shape.back()))
      keys.fail("tied", start + "it has " + std::to_string(other.parameters) +
                            " parameters, expected the " + std::to_string(layer.parameters) +
                            " of this layer" + (bias ? ", or this number without the bias" : ""));
    layer.tied = target;
    layer.shared = other.parameters;
    layer.parameters = own;
  }

  /// Leaves out gradients that no layer needs, as automatic differentiation does. If no layer before this layer has
  /// weights, the gradient of the input is left out. If this layer has no weights either, it has no backward pass. But
  /// nothing is left out if the seconds of the backward pass were measured.
  void leave_out_gradients(Layer& layer) {
    bool learns = false;
    if (!reads_nothing(layer))
      for (const std::uint32_t input : layer.inputs) learns = learns || learns_[input];
    const bool measured = layer.backward_s.value_or(0) > 0;
    const bool has_weights = layer.parameters > 0 || layer.backward.weight_flop > 0;
    if (!learns && !measured) layer.backward.input_flop = 0;
    layer.backward.runs = learns || has_weights || measured;
    if (!layer.backward.runs) layer.backward = {.runs = false};
    learns_.push_back(layer.backward.runs);
  }

  static void read_seconds(const Reader& keys, Layer& layer) {
    for (const char* pass : {"forward", "backward"})
      if (keys.has(pass) && (layer.inputs.empty() || is_view(layer)))
        keys.fail(pass, layer.type + " computes nothing: expected no '" + std::string(pass) +
                            "' seconds");
    if (keys.has("forward")) layer.forward_s = keys.quantity("forward");
    if (keys.has("backward")) layer.backward_s = keys.quantity("backward");
  }

  std::vector<std::uint32_t> inputs_of(const Reader& keys, const LayerType& type,
                                       const std::string& suffix) const {
    std::vector<std::uint32_t> inputs;
    if (const Value* names = keys.value("inputs")) {
      for (const Value& name : names->items())
        inputs.push_back(names_.find(name, "inputs", suffix, around_));
    } else if (type.max_inputs > 0 && previous_) {
      inputs.push_back(*previous_);
    }
    // The caller of this function refuses a first layer that is not an input.
    const bool first = model_.layers.empty();
    if (!first && (inputs.size() < type.min_inputs || inputs.size() > type.max_inputs))
      keys.fail("inputs", type.name + " takes " + number_of_inputs(type) + ", got " +
                              std::to_string(inputs.size()));
    return inputs;
  }

  static std::string number_of_inputs(const LayerType& type) {
    if (type.max_inputs == 0) return "no inputs";
    if (type.min_inputs == type.max_inputs)
      return std::to_string(type.min_inputs) + (type.min_inputs == 1 ? " input" : " inputs");
    return "at least " + std::to_string(type.min_inputs) + " inputs";
  }

  Model& model_;
  LayerNames names_;
  Parameters parameters_;  ///< the parameters of the model or, inside a block, of the block
  const Value* blocks_;
  std::vector<std::string> open_blocks_;
  Surroundings around_;  ///< the layers outside of the current repetition or block
  std::optional<std::uint32_t> previous_;  ///< the layer that the next layer reads by default
  /// The number of elements of all layers so far: of outputs, weights, caches, and kept values.
  std::int64_t elements_ = 0;
  /// For each layer, whether it has a backward pass (leave_out_gradients).
  std::vector<bool> learns_;
};

}  // namespace

Model read_layers(const Value& definition, const Value& use, Purpose purpose) {
  require_format(definition, "model");
  const Reader keys(definition, model_record());
  Model model;
  model.name = keys.text("name");
  if (keys.has("summary")) model.summary = keys.text("summary");
  const Parameters parameters = read_parameters(definition, use, purpose);
  const Value& layers = *keys.value("layers");
  if (layers.items().empty()) fail_at(layers, "'layers' is empty, expected at least one layer");
  const Value* blocks = keys.value("blocks");
  if (blocks) check_blocks(*blocks);
  refuse_too_many_layers(layers, parameters, blocks, most_layers);
  Expansion(model, parameters, blocks).run(layers, "");
  for (const Layer& layer : model.layers)
    if (layer.forward_s || layer.backward_s) model.measured_batch = keys.integer("measured_batch");
  if (keys.has("measured_batch") && model.measured_batch == 0)
    keys.fail("measured_batch",
              "'measured_batch' is given, but no layer has a measured 'forward' or 'backward'");
  return model;
}

}  // namespace sluice
