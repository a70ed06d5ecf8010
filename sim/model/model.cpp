#include "model/model.hpp"

#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "document/foreign.hpp"
#include "document/load.hpp"
#include "document/override.hpp"
#include "document/record.hpp"
#include "model/catalog.hpp"
#include "model/importer.hpp"
#include "model/kept.hpp"
#include "model/parameters.hpp"
#include "model/read.hpp"

namespace sluice {
namespace {

std::int64_t sum(const Model& model, std::int64_t Layer::*count, std::string_view what) {
  std::int64_t total = 0;
  for (const Layer& layer : model.layers) total = checked_add(total, layer.*count, what);
  return total;
}

/// Multiplies all counts of the model by `scale`. The shapes do not change.
void scale_counts(Model& model, std::int64_t scale) {
  if (scale == 1) return;
  if (model.measured_batch > 0)
    throw InputError("'" + std::to_string(scale) +
                     "' for 'scale': a model with measured seconds cannot be scaled; expected 1");
  for (Layer& layer : model.layers) {
    layer.output = checked_mul(layer.output, scale, "elements");
    layer.parameters = checked_mul(layer.parameters, scale, "parameters");
    layer.shared = checked_mul(layer.shared, scale, "parameters");
    if (layer.weights_read)
      layer.weights_read->elements =
          checked_mul(layer.weights_read->elements, scale, "elements read");
    layer.cached = checked_mul(layer.cached, scale, "elements");
    layer.macs = checked_mul(layer.macs, scale, "multiply-accumulates");
    layer.flop = checked_mul(layer.flop, scale, "FLOP");
    Backward& backward = layer.backward;
    backward.input_flop = checked_mul(backward.input_flop, scale, "FLOP of the backward pass");
    backward.weight_flop = checked_mul(backward.weight_flop, scale, "FLOP of the backward pass");
    backward.kept = checked_mul(backward.kept, scale, "kept elements");
    backward.kept_bytes = checked_mul(backward.kept_bytes, scale, "kept bytes");
  }
}

std::string layer_names(const Model& model) {
  constexpr std::size_t shown = 30;
  std::vector<std::string> names;
  for (const Layer& layer : model.layers) {
    if (names.size() == shown) {
      names.push_back("... (" + std::to_string(model.layers.size()) + " in all)");
      break;
    }
    names.push_back(layer.name);
  }
  return join(names);
}

bool is_stage_table(const Value& definition) {
  return definition.is_map() && !definition.find("format") &&
         (definition.find("func") || definition.find("data"));
}

/// Throws an error if the key of an override is unknown. An importer makes a document that the user does not see. So
/// the message names the keys of this document and the keys of the importer.
void require_known(const Override& override, const Importer& importer, const Value& definition) {
  const std::string& key = override.path.front();
  if (definition.find(key)) return;
  std::vector<std::string> own, made;
  for (const Field& field : importer.parameters) own.push_back(field.name);
  for (const Value::Entry& entry : definition.entries()) made.push_back(entry.key);
  fail_at(override.value, "unknown key '" + key + "'; the keys for a " + importer.ending + " file are " +
                              join(own) + (importer.open ? " and names of dimensions" : "") +
                              ", and the keys of the model made from it are " + join(made));
}

}  // namespace

std::int64_t Model::parameters() const {
  return sum(*this, &Layer::parameters, "parameters");
}
std::int64_t Model::activations() const {
  return sum(*this, &Layer::output, "elements");
}
std::int64_t Model::macs() const {
  return sum(*this, &Layer::macs, "multiply-accumulates");
}
std::int64_t Model::flop() const {
  return sum(*this, &Layer::flop, "FLOP");
}

std::uint32_t Model::layer_at(const Value& where) const {
  const auto size = static_cast<std::int64_t>(layers.size());
  if (where.kind() == Value::Kind::integer) {
    const std::int64_t number = where.as_integer();
    if (number < 1 || number > size)
      fail_at(where, "the model has no layer " + where.text() + "; expected 1 to " +
                         std::to_string(size) + ", or a name: " + layer_names(*this));
    return static_cast<std::uint32_t>(number - 1);
  }
  if (where.kind() != Value::Kind::string)
    fail_at(where, "expected a layer's number or name, got " + std::string(where.kind_name()));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].name == where.text()) return static_cast<std::uint32_t>(i);
    if (names.size() < 1000) names.push_back(layers[i].name);
  }
  fail_at(where, "the model has no layer '" + where.text() + "'" +
                     did_you_mean(where.text(), names) + "; it has: " + layer_names(*this));
}

Model read_model(const Value& use, Purpose purpose) {
  const Reader keys(use, model_use_record());
  if (const Value* file = keys.value("file"))
    fail_at(*file, "'" + file->text() + "' for 'file' has not been included");
  const Value* definition = keys.value("definition");
  if (!definition)
    fail_at(use, "the key 'file' is missing in model (the model's file); expected a path");
  Model model;
  if (is_stage_table(*definition)) {
    refuse_unknown_parameters(use, {});
    model = read_stage_table(*definition);
  } else {
    model = read_layers(*definition, use, purpose);
  }
  const Value* scale = keys.value("scale");
  located(scale ? *scale : *definition, [&] {
    scale_counts(model, keys.integer("scale"));
    model.parameters();  // This call and the next calls throw an error if a sum overflows.
    model.activations();
    model.macs();
    model.flop();
    backward_flop(model);
  });
  return model;
}

Value load_model_use(const std::string& path, const std::vector<std::string>& overrides,
                     std::vector<std::string>* notes) {
  Value use = Value::make_map();
  use.set("definition", load_document(path, "models"));
  // The overrides of values inside the model's document, such as `layers.2.kernel=5`.
  std::vector<Override> inside;
  for (const std::string& text : overrides) {
    Override override = parse_override(text);
    if (override.path.size() > 1 && override.path.front() == "model")
      // The key may begin with `model.`, as in a scenario: model.batch=8. This beginning is removed.
      override.path.erase(override.path.begin());
    if (override.path.size() == 1)
      apply_override(use, override);
    else
      inside.push_back(std::move(override));
  }
  const std::string* foreign = foreign_path(*use.find("definition"));
  const Importer* importer = foreign ? &importer_for(*foreign) : nullptr;
  std::vector<std::string> said = import_definition(use);
  if (notes) *notes = std::move(said);
  for (const Override& override : inside) {
    Value& definition = *use.find("definition");
    if (importer) require_known(override, *importer, definition);
    apply_override(definition, override);
  }
  return use;
}

Model load_model(const std::string& path, const std::vector<std::string>& overrides) {
  return read_model(load_model_use(path, overrides));
}

bool is_view(const Layer& layer) {
  const LayerType* type = layer_catalog().find_or_null(layer.type);
  return type && type->view;
}

bool reads_nothing(const Layer& layer) {
  const LayerType* type = layer_catalog().find_or_null(layer.type);
  return type && type->reads_nothing;
}

}  // namespace sluice
