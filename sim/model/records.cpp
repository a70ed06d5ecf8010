// The records of model documents. A record says which keys a mapping may have. Such a mapping is a model, a block, or a
// layer of one type.
#include "model/catalog.hpp"

#include <map>

namespace sluice {

namespace {

Record make_layer_record(const LayerType& type) {
  Record record;
  record.name = "layer type " + type.name;
  record.summary = type.summary;
  record.fields = {
      {.name = "type", .type = Type::text, .summary = "the layer type"},
      {.name = "name",
       .type = Type::text,
       .summary = "the name of the layer, unique in the model. By default it is the layer's type and number, such as "
                  "relu3",
       .optional = true},
      {.name = "inputs",
       .type = Type::list,
       .summary =
           "names of earlier layers whose outputs the layer reads. By default it reads the layer before it",
       .optional = true},
      {.name = "tied",
       .type = Type::text,
       .summary =
           "the earlier layer whose weights this layer shares. The shared weights count only at the earlier layer",
       .optional = true},
  };
  for (const Field& field : type.parameters) record.fields.push_back(field);
  for (const char* pass : {"forward", "backward"})
    record.fields.push_back({.name = pass,
                             .type = Type::quantity,
                             .summary = "measured seconds of the " + std::string(pass) +
                                        " pass of `measured_batch` samples",
                             .optional = true,
                             .dimension = Dimension::seconds});
  return record;
}

Field parameters_field() {
  return {.name = "parameters",
          .type = Type::mapping,
          .summary = "the parameters, each as name: DEFAULT, or as name: {default: N, summary: TEXT, minimum: N, "
                     "maximum: N}",
          .optional = true,
          .record = &declaration_record(),
          .map_of = true};
}

Record make_item_record() {
  Record record;
  record.name = "layer";
  record.summary =
      "a layer, {repeat: N, layers: [...]}, or {block: NAME}. A layer also has the keys of its type, and a use of a "
      "block has the parameters of the block";
  record.open = true;
  record.fields = {
      {.name = "type",
       .type = Type::choice,
       .summary = "the type of the layer",
       .optional = true,
       .choices = layer_catalog().names()},
      {.name = "name",
       .type = Type::text,
       .summary = "the name of the layer, which is unique in the model",
       .optional = true},
      {.name = "inputs",
       .type = Type::list,
       .summary =
           "names of earlier layers, or of the block's inputs. The name `before` means the layer before the repetition "
           "or the block",
       .optional = true},
      {.name = "tied",
       .type = Type::text,
       .summary = "the earlier layer whose weights the layer shares",
       .optional = true},
      {.name = "repeat",
       .type = Type::any,
       .summary = "how often `layers` are repeated: an integer or an expression",
       .optional = true},
      {.name = "layers", .type = Type::list, .summary = "the repeated layers", .optional = true},
      {.name = "block",
       .type = Type::text,
       .summary = "the block whose layers are used here",
       .optional = true},
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
          {.name = "default",
           .type = Type::integer,
           .summary = "the value, unless a use of the model gives another value"},
          {.name = "summary", .type = Type::text, .summary = "one sentence", .optional = true},
          {.name = "minimum",
           .type = Type::integer,
           .summary = "the smallest value allowed",
           .default_text = "1"},
          {.name = "maximum",
           .type = Type::any,
           .summary = "the largest value allowed: an integer, or an expression of parameters",
           .optional = true},
          {.name = "inference",
           .type = Type::integer,
           .summary = "the value in inference, even if a use of the model gives another value",
           .optional = true}}};
  return record;
}

const Record& repeat_record() {
  static const Record record = {
      .name = "repeat",
      .summary = "layers that are repeated",
      .fields = {{.name = "repeat", .type = Type::any, .summary = "how often to repeat `layers`"},
                 {.name = "layers",
                  .type = Type::list,
                  .summary = "the repeated layers",
                  .record = &item_record()}}};
  return record;
}

const Record& block_use_record() {
  static const Record record = {
      .name = "use of a block",
      .summary = "a use of a block's layers. The other keys are the parameters of the block",
      .fields =
          {{.name = "block", .type = Type::text, .summary = "the block whose layers are used here"},
           {.name = "name",
            .type = Type::text,
            .summary = "a suffix for the names of the block's layers",
            .optional = true},
           {.name = "inputs",
            .type = Type::list,
            .summary =
                "the layers that the block reads as its inputs, in the order of the block's `inputs`. By default the "
                "block reads the layer before it",
            .optional = true}},
      .open = true};
  return record;
}

const Record& block_record() {
  static const Record record = {
      .name = "block",
      .summary = "layers that a model uses in several places, with integer parameters",
      .fields = {
          {.name = "summary", .type = Type::text, .summary = "one sentence", .optional = true},
          parameters_field(),
          {.name = "inputs",
           .type = Type::list,
           .summary =
               "the names of the block's inputs, for the `inputs` of its layers. By default there is only the name "
               "`before`",
           .optional = true},
          {.name = "layers",
           .type = Type::list,
           .summary = "the layers, in order",
           .record = &item_record()}}};
  return record;
}

namespace {

Record make_model_record() {
  Record record;
  record.name = "model";
  record.summary = "a network: layers in order, with integer parameters";
  record.fields = {
      {.name = "format", .type = Type::text, .summary = "sluice-model/1"},
      {.name = "name", .type = Type::text, .summary = "the name of the model"},
      {.name = "summary", .type = Type::text, .summary = "one sentence", .optional = true},
      {.name = "source",
       .type = Type::text,
       .summary = "the source of the model",
       .optional = true},
      {.name = "measured_batch",
       .type = Type::integer,
       .summary =
           "the number of samples for which the layers' `forward` and `backward` were measured",
       .default_text = "1",
       .minimum = 1},
      parameters_field(),
      {.name = "blocks",
       .type = Type::mapping,
       .summary = "the blocks, each as name: {parameters: {...}, layers: [...]}. A layer list uses a block as {block: "
                  "name}",
       .optional = true,
       .record = &block_record(),
       .map_of = true},
      {.name = "layers",
       .type = Type::list,
       .summary = "the layers, in order",
       .record = &item_record()},
  };
  return record;
}

Record make_model_use_record() {
  Record record;
  record.name = "model";
  record.summary = "the model of a scenario: a file or a definition, and values for its parameters";
  record.open = true;
  record.fields = {
      {.name = "file",
       .type = Type::text,
       .summary = "the path of the model's file, relative to the scenario's file",
       .optional = true},
      {.name = "definition",
       .type = Type::mapping,
       .summary = "the model itself, if no file is named",
       .optional = true},
      {.name = "scale",
       .type = Type::integer,
       .summary =
           "a factor: the parameters, activations and FLOP of every layer are multiplied by it",
       .default_text = "1",
       .minimum = 1},
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
