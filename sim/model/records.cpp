// The records of model documents. A record says which keys a mapping may have. Such a mapping is a model, a block, or a
// layer of one type.
#include "document/key.hpp"
#include "model/catalog.hpp"

#include <map>

namespace sluice {

namespace {

Record make_layer_record(const LayerType& type) {
  Record record;
  record.name = "layer type " + type.name;
  record.summary = type.summary;
  record.fields = {
      Key::text("type", "the layer type"),
      Key::text(
          "name",
          "the name of the layer, unique in the model. By default it is the layer's type and number, such as "
          "relu3")
          .or_absent(),
      Key::list(
          "inputs",
          "names of earlier layers whose outputs the layer reads. By default it reads the layer before it")
          .or_absent(),
      Key::text(
          "tied",
          "the earlier layer whose weights this layer shares. The shared weights count only at the earlier layer")
          .or_absent(),
  };
  for (const Field& field : type.parameters) record.fields.push_back(field);
  for (const char* pass : {"forward", "backward"})
    record.fields.push_back(Key::quantity(pass, Dimension::seconds,
                                          "measured seconds of the " + std::string(pass) +
                                              " pass of `measured_batch` samples")
                                .or_absent());
  return record;
}

Field parameters_field() {
  return Key::mapping(
             "parameters",
             "the parameters, each as name: DEFAULT, or as name: {default: N, summary: TEXT, minimum: N, "
             "maximum: N}")
      .or_absent()
      .with_entries(declaration_record());
}

Record make_item_record() {
  Record record;
  record.name = "layer";
  record.summary =
      "a layer, {repeat: N, layers: [...]}, or {block: NAME}. A layer also has the keys of its type, and a use of a "
      "block has the parameters of the block";
  record.open = true;
  record.fields = {
      Key::choice("type", layer_catalog().names(), "the type of the layer").or_absent(),
      Key::text("name", "the name of the layer, which is unique in the model").or_absent(),
      Key::list(
          "inputs",
          "names of earlier layers, or of the block's inputs. The name `before` means the layer before the repetition "
          "or the block")
          .or_absent(),
      Key::text("tied", "the earlier layer whose weights the layer shares").or_absent(),
      Key::any("repeat", "how often `layers` are repeated: an integer or an expression")
          .or_absent(),
      Key::list("layers", "the repeated layers").or_absent(),
      Key::text("block", "the block whose layers are used here").or_absent(),
  };
  return record;
}

const Record& item_record() {
  static const Record record = make_item_record();
  return record;
}

}  // namespace

const Record& declaration_record() {
  static const Record record = {
      .name = "parameter",
      .summary = "an integer, which layers refer to as $name",
      .fields = {
          Key::integer("default", "the value, unless a use of the model gives another value"),
          Key::text("summary", "one sentence").or_absent(),
          Key::integer("minimum", "the smallest value allowed").by_default("1"),
          Key::any("maximum",
                   "the largest value allowed: an integer, or an expression of parameters")
              .or_absent(),
          Key::integer("inference",
                       "the value in inference, even if a use of the model gives another value")
              .or_absent()}};
  return record;
}

const Record& repeat_record() {
  static const Record record = {
      .name = "repeat",
      .summary = "layers that are repeated",
      .fields = {Key::any("repeat", "how often to repeat `layers`"),
                 Key::list("layers", "the repeated layers").with_keys(item_record())}};
  return record;
}

const Record& block_use_record() {
  static const Record record = {
      .name = "use of a block",
      .summary = "a use of a block's layers. The other keys are the parameters of the block",
      .fields =
          {Key::text("block", "the block whose layers are used here"),
           Key::text("name", "a suffix for the names of the block's layers").or_absent(),
           Key::list(
               "inputs",
               "the layers that the block reads as its inputs, in the order of the block's `inputs`. By default the "
               "block reads the layer before it")
               .or_absent()},
      .open = true};
  return record;
}

const Record& block_record() {
  static const Record record = {
      .name = "block",
      .summary = "layers that a model uses in several places, with integer parameters",
      .fields = {
          Key::text("summary", "one sentence").or_absent(), parameters_field(),
          Key::list(
              "inputs",
              "the names of the block's inputs, for the `inputs` of its layers. By default there is only the name "
              "`before`")
              .or_absent(),
          Key::list("layers", "the layers, in order").with_keys(item_record())}};
  return record;
}

namespace {

Record make_model_record() {
  Record record;
  record.name = "model";
  record.summary = "a network: layers in order, with integer parameters";
  record.fields = {
      Key::text("format", "sluice-model/1"),
      Key::text("name", "the name of the model"),
      Key::text("summary", "one sentence").or_absent(),
      Key::text("source", "the source of the model").or_absent(),
      Key::integer(
          "measured_batch",
          "the number of samples for which the layers' `forward` and `backward` were measured")
          .by_default("1")
          .at_least(1),
      parameters_field(),
      Key::mapping(
          "blocks",
          "the blocks, each as name: {parameters: {...}, layers: [...]}. A layer list uses a block as {block: "
          "name}")
          .or_absent()
          .with_entries(block_record()),
      Key::list("layers", "the layers, in order").with_keys(item_record()),
  };
  return record;
}

Record make_model_use_record() {
  Record record;
  record.name = "model";
  record.summary = "the model of a scenario: a file or a definition, and values for its parameters";
  record.open = true;
  record.fields = {
      Key::text("file", "the path of the model's file, relative to the scenario's file")
          .or_absent(),
      Key::mapping("definition", "the model itself, if no file is named").or_absent(),
      Key::integer(
          "scale",
          "a factor: the parameters, activations and FLOP of every layer are multiplied by it")
          .by_default("1")
          .at_least(1),
  };
  return record;
}

}  // namespace

const Record& layer_record(const LayerType& type) {
  static const std::map<const LayerType*, Record> records = [] {
    std::map<const LayerType*, Record> all;
    for (const LayerType* entry : layer_catalog().entries())
      all.emplace(entry, make_layer_record(*entry));
    return all;
  }();
  return records.at(&type);
}

const Record& model_record() {
  static const Record record = make_model_record();
  return record;
}

const Record& model_use_record() {
  static const Record record = make_model_use_record();
  return record;
}

}  // namespace sluice
