// The command `sluice model` prints the stage table of a model, which has one row per layer. With a platform, the table
// also has the milliseconds that each layer takes on it.

#include "command/table.hpp"
#include "document/bundled.hpp"
#include "study/layer_table/island.hpp"

#include "command/inputs.hpp"
#include "command/model/report.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

/// Returns the answer in the form that the options name. The default form is the table.
std::string form(const Arguments& arguments, const ModelReport& report) {
  if (arguments.has("json")) return model_json(report);
  if (arguments.has("csv")) return model_csv(report);
  if (!arguments.has("data-island")) return model_text(report);
  return model_island(report.model, report.dtype, report.target, report.columns);
}

void require_one_form(const Arguments& arguments) {
  refuse_together(arguments, {"json", "csv", "data-island"});
  if (arguments.has("json") && arguments.has("columns"))
    throw UsageError("'--json' has all columns; remove '--columns'");
}

ChosenCost cost_model(const Arguments& arguments, const Platform& platform) {
  const std::string name = arguments.text("cost", default_cost(platform).name);
  if (!cost_catalog().find_or_null(name))
    throw UsageError("'" + name + "' for '--cost'" + did_you_mean(name, cost_catalog().names()) +
                     "; expected one of " + join(cost_catalog().names()));
  return plain_cost(name);
}

int run_model(const Arguments& arguments) {
  require_one_form(arguments);
  const bool with_platform = arguments.has("platform");
  for (const char* option : {"device", "cost"})
    if (arguments.has(option) && !with_platform)
      throw UsageError("'--" + std::string(option) + "' needs '--platform'");
  std::vector<std::string> notes;
  const Value use = load_model_use(find_document(arguments.positionals.front(), "models"),
                                   arguments.overrides, &notes);
  const Model model = read_model(use);
  for (const std::string& note : notes) message("sluice: " + note);
  ModelReport report = {model, dtype_of(arguments.text("dtype", "float32"))};
  if (arguments.has("columns"))
    report.columns = columns_named(arguments.text("columns"), with_platform);
  // This call throws if the bytes of a layer's passes do not fit into a count of 64 bits.
  const auto formed = [&] {
    return located(*use.find("definition"), [&] { return form(arguments, report); });
  };
  if (!with_platform) {
    print(formed());
    return 0;
  }
  const Platform platform = load_platform(arguments.text("platform"));
  const Device& device = arguments.has("device") ? platform.device(arguments.text("device"))
                                                 : platform.devices.front();
  const Target target(platform, device, report.dtype, cost_model(arguments, platform));
  report.target = &target;
  print(formed());
  return 0;
}

std::string columns_help() {
  LabelledRows rows;
  for (const ModelColumn& column : model_columns())
    rows.emplace_back(column.key, column.summary + (column.of_platform ? " (platform)" : ""));
  return "Columns of --columns, and keys of a layer in JSON; those marked (platform) need --platform:\n" +
         rows_text(rows, {.indent = "  ", .label_columns = 22});
}

}  // namespace

extern const Command model_command = {
    .name = "model",
    .summary = "Prints the stage table of a model: its layers, and with --platform their milliseconds.", .usage =
    {"MODEL [KEY=VALUE...] [--dtype T] [--columns LIST] [--json|--csv|--data-island]",
              "MODEL [KEY=VALUE...] --platform PLATFORM [--device D] [--cost C] [...]"},
    .least = 1,
    .most = 1,
    .positionals = "MODEL",
    .names_folder = "models",
    .overrides = true,
    .options =
        {{.name = "platform",
          .value = "PLATFORM",
          .summary = "a file, or a name that `sluice list platforms` prints",
          .suggested = [] { return bundled_names("platforms"); }},
         {.name = "device",
          .value = "D",
          .summary = "the device that computes",
          .absent = "the platform's first device"},
         {.name = "cost",
          .value = "C",
          .summary = "the cost model that gives the milliseconds of passes",
          .absent = "roofline if each device has a memory bandwidth, and peak otherwise"},
         {.name = "dtype",
          .value = "T",
          .summary = "element type",
          .absent = "float32",
          .choices = dtype_names()},
         {.name = "columns",
          .value = "LIST",
          .summary = "all, or some of the columns above, separated by commas",
          .absent = "all columns in CSV, and the most useful columns in the table"},
         {.name = "json", .summary = "print all columns as JSON, with full precision"},
         {.name = "csv", .summary = "CSV with one row per layer, for spreadsheets"},
         {.name = "data-island",
          .summary =
              "print the table as JSON for a web page. Without --columns, the table has the columns of a stage table, "
              "which `sluice model` can read"}},
    .details =
        "MODEL is a file, or a name that `sluice list models` prints. KEY=VALUE or\n"
        "model.KEY=VALUE sets parameters and the scale of the model. All counts and times are per\n"
        "sample. The state is the output of a layer, in elements. A model that is a stage table\n"
        "has no MACs. models/FORMAT.md says what a layer keeps. A tensor that several layers read\n"
        "counts at the first of these layers.\n\n"
        "The time of a transfer is bytes / bandwidth of the slowest link between host memory and\n"
        "the device, without set-up and latency. The time of computing is FLOP / (rate x\n"
        "efficiency). With --cost measured, forward and backward ms are the measured times\n"
        "divided by measured_batch, the number of samples that were measured together. For a\n"
        "layer, \"copies that fit\" is the number of copies of its state that fit into the memory,\n"
        "next to the parameters of all layers up to this layer. Working memory is not counted. For\n"
        "the model, \"copies that fit\" is the number of times that all parameters fit.\n\n" +
        columns_help() +
        "\nJSON: format, model, summary, dtype, totals (state, parameters, parameter_bytes,\n"
        "kept_bytes, macs, flop, backward_flop, read_bytes, written_bytes, backward_read_bytes,\n"
        "backward_written_bytes), layers, platform or null (name, device, dtype, cost, flop_per_s,\n"
        "bandwidth_bytes_per_s, capacity_bytes, parameter_bytes, state_bytes, input_bytes, load_ms,\n"
        "fill_ms, copies_that_fit, state_ms, load_and_state_ms, load_and_input_ms, flop_ms,\n"
        "inferences_per_load, forward_ms, backward_ms).\n",
    .examples =
        {{"sluice model alexnet", "the table"},
         {"sluice model gpt2 --dtype float16 --columns layer,kept_bytes,total_kept_bytes",
          "the bytes that training keeps per sample"},
         {"sluice model alexnet_data_island scale=200 --platform rx7900xtx_as_written",
          "the model of 'AlexNet on one card', scaled by 200, on the card of that document"}},
    .run = run_model,
};

}  // namespace sluice
