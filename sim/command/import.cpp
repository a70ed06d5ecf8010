// The command `sluice import` turns a model of another program into a sluice-model/1 document.
#include "base/part_file.hpp"
#include "base/split.hpp"
#include "command/inputs.hpp"
#include "command/output.hpp"
#include "command/terminal.hpp"
#include "document/foreign.hpp"
#include "document/load.hpp"
#include "model/importer.hpp"
#include "model/model.hpp"

namespace sluice {
namespace {

/// Turns the value A,B,C of the option --as-zero into the override as_zero=[A, B, C].
std::string as_zero_override(const std::string& words) {
  Value list = Value::make_list();
  for (const std::string_view word : split(words, ","))
    list.items().push_back(Value::make(std::string(word)));
  std::string text = to_json(list, 0);
  text.pop_back();  // to_json() ends the text with a line break.
  return "as_zero=" + text;
}

int run_import(const Arguments& arguments) {
  const std::string& path = arguments.positionals.front();
  if (!is_foreign_name(path))
    // This call throws: the error lists the kinds of files that can be imported.
    importer_for(path);
  std::vector<std::string> overrides = arguments.overrides, notes;
  if (arguments.has("as-zero")) overrides.push_back(as_zero_override(arguments.text("as-zero")));
  const Value use = load_model_use(path, overrides, &notes);
  // This call throws if the document that will be written is not valid.
  const Model model = read_model(use);
  const Value& definition = *use.find("definition");
  const std::string output = arguments.text("output");
  refuse_to_replace(arguments, output, Output::document);
  const std::string text = output.ends_with(".json") ? to_json(definition) : to_yaml(definition);
  if (output.empty())
    print(text);
  else
    write_file(output, text);
  for (const std::string& note : notes) message("sluice: " + note);
  return 0;
}

HelpRows importers() {
  HelpRows rows;
  for (const Importer* importer : importer_catalog().entries()) {
    rows.emplace_back(importer->ending, importer->summary);
    for (const Field& field : importer->parameters)
      rows.emplace_back(
          "  " + field.name,
          field.summary + (field.default_text ? " [" + *field.default_text + "]" : ""));
  }
  return rows;
}

}  // namespace

extern const Command import_command = {
    .name = "import",
    .summary = "Makes a sluice-model/1 document from a model of another program.",
    .usage = {"FILE [KEY=VALUE...] [--as-zero OP,...] [-o MODEL] [--force]"},
    .least = 1,
    .most = 1,
    .positionals = "FILE",
    .overrides = true,
    .options = {{.name = "output",
                 .letter = 'o',
                 .value = "MODEL",
                 .summary = "the file to write, as JSON if its name ends in .json",
                 .absent = "standard output, as YAML"},
                force_option(Output::document),
                {.name = "as-zero",
                 .value = "OP,...",
                 .summary = "operators of an ONNX model that count as free: they get no FLOP"}},
    .details =
        "Sluice opens only FILE, and never reads the values of weights. Each symbolic dimension of an ONNX "
        "file is a KEY. All counts are per sample. Shapes are without the batch. The shape of an image is "
        "[height, width, channels].\n\nA file can also be used without importing it, as model: {file: FILE, KEY: "
        "VALUE} in a scenario, or as `sluice model FILE KEY=VALUE`.\n\nThe endings of files that can be imported, and "
        "the keys of these files:\n",
    .listed = importers,
    .examples = {{"sluice import resnet50.onnx batch=1 -o models/mine.yaml", "an ONNX model"},
                 {"sluice import vgg16.graph.txt batch=128", "a model that PipeDream measured"}},
    .run = run_import,
};

}  // namespace sluice
