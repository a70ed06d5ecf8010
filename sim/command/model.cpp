// sluice model: the stage table of a model, on a platform in milliseconds too.

#include "command/inputs.hpp"
#include "command/model_report.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

std::string form(const Arguments& arguments, const Model& model, const Target* target) {
  if (arguments.has("json")) return model_json(model, target);
  return arguments.has("csv") ? model_csv(model, target) : model_text(model, target);
}

int run_model(const Arguments& arguments) {
  if (arguments.has("json") && arguments.has("csv"))
    throw UsageError("'--json' and '--csv' exclude each other");
  for (const char* option : {"device", "dtype"})
    if (arguments.has(option) && !arguments.has("platform"))
      throw UsageError("'--" + std::string(option) + "' is of a platform: it goes with --platform");
  const Model model =
      load_model(find_document(arguments.positionals.front(), "models"), arguments.overrides);
  if (!arguments.has("platform")) {
    print(form(arguments, model, nullptr));
    return 0;
  }
  const Platform platform = load_platform(find_document(arguments.text("platform"), "platforms"));
  const Device& device = arguments.has("device") ? platform.device(arguments.text("device"))
                                                 : platform.devices.front();
  const Target target(platform, device, dtype_of(arguments.text("dtype", "float32")));
  print(form(arguments, model, &target));
  return 0;
}

}  // namespace

extern const Command model_command;
const Command model_command = {
    .name = "model",
    .summary = "Prints the stage table of a model; with a platform, in milliseconds too.",
    .usage = {"MODEL [KEY=VALUE...] [--json|--csv]",
              "MODEL [KEY=VALUE...] --platform PLATFORM [--device D] [--dtype T] [--json|--csv]"},
    .least = 1,
    .most = 1,
    .positionals = "MODEL",
    .overrides = true,
    .options = {{.name = "platform",
                 .value = "PLATFORM",
                 .summary = "a file, or the name of one of `sluice list platforms`"},
                {.name = "device",
                 .value = "D",
                 .summary = "the device that computes",
                 .absent = "the platform's first one"},
                {.name = "dtype",
                 .value = "T",
                 .summary = "element type",
                 .absent = "float32",
                 .choices = dtype_names()},
                {.name = "json", .summary = "as JSON, with full precision"},
                {.name = "csv", .summary = "one row a layer, for spreadsheets"}},
    .details =
        "MODEL is a file, or the name of one of `sluice list models`; KEY=VALUE sets its "
        "parameters\n"
        "and scale. All counts are of one sample; state is the output of a layer, in elements. A\n"
        "stage table in data-island form gives no MACs.\n\n"
        "Times: a transfer is bytes / bandwidth of the narrowest link between host memory and the\n"
        "device, without set-up and latency; computing is FLOP / (rate x efficiency). Copies that\n"
        "fit: how many of a layer's states the device holds beside the parameters up to it (no\n"
        "other working memory counted); of the model, how many of all its parameters.\n\n"
        "JSON keys: format, model, summary, totals (state, parameters, macs, flop), layers (step,\n"
        "layer, type, shape, state, total_state, parameters, total_parameters, macs, flop,\n"
        "total_flop, and with a platform state_ms, total_state_ms, total_parameters_ms, flop_ms,\n"
        "total_flop_ms, copies_that_fit), platform or null (name, device, dtype, flop_per_s,\n"
        "bandwidth_bytes_per_s, capacity_bytes, parameter_bytes, state_bytes, input_bytes, "
        "load_ms,\n"
        "fill_ms, copies_that_fit, state_ms, load_and_state_ms, load_and_input_ms, flop_ms,\n"
        "inferences_per_load).\n",
    .examples = {{"sluice model alexnet", "the table"},
                 {"sluice model models/alexnet_data_island.json scale=200 --platform "
                  "rx7900xtx_as_written",
                  "seed 000's model, 200 times as large, on its card"}},
    .run = run_model,
};

}  // namespace sluice
