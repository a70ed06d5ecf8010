// sluice fits: how much of a model fits the cards of a list.
#include <algorithm>
#include <filesystem>

#include "base/dtype.hpp"
#include "base/part_file.hpp"
#include "document/load.hpp"
#include "fates/strategy.hpp"
#include "scenario/scenario.hpp"
#include "study/zoo/zoo.hpp"

#include "command/fits/report.hpp"
#include "command/inputs.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end == begin)
      throw UsageError("'" + list + "' for '--platform' has an empty name; expected P or P,P...");
    parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// KEY=VALUE of the scenario ("workload.…", "stages=…"), or else of the model.
bool of_scenario(const std::string& text) {
  const std::string head = text.substr(0, text.find_first_of(".="));
  const auto& fields = scenario_record().fields;
  return head != "model" && std::any_of(fields.begin(), fields.end(), [&](const Field& field) {
           return field.type == Type::mapping && field.name == head;
         });
}

FitsRequest request_of(const Arguments& arguments) {
  FitsRequest request;
  request.mode = arguments.text("mode", request.mode);
  if (arguments.has("optimizer") && request.mode == "inference")
    throw UsageError("'--optimizer' is for '--mode training'");
  if (arguments.has("fates") && request.mode == "inference" &&
      !fate_catalog().find(arguments.text("fates")).inference)
    throw UsageError("'--fates " + arguments.text("fates") + "' is for '--mode training'");
  request.optimizer = arguments.text("optimizer");
  request.dtype = arguments.text("dtype", request.dtype);
  request.policy = arguments.text("policy", request.policy);
  request.fates = arguments.text("fates", request.fates);
  if (arguments.has("batch")) request.batch = arguments.integer("batch", 1, 1, most_samples);
  std::vector<std::string> parameters;
  for (const std::string& text : arguments.overrides)
    (of_scenario(text) ? request.overrides : parameters).push_back(text);
  request.model =
      load_model_use(find_document(arguments.positionals.front(), "models"), parameters);
  return request;
}

/// Reads the platforms; returns their names.
std::vector<std::string> add_platforms(FitsRequest& request, const std::string& list) {
  std::vector<std::string> names;
  for (const std::string& given : split(list)) {
    const std::string path = find_document(given, "platforms");
    const std::string name = fs::path(path).stem().string();
    if (std::find(names.begin(), names.end(), name) != names.end())
      throw UsageError("'--platform' names '" + name + "' twice");
    names.push_back(name);
    request.platforms.push_back(load_document(path));
  }
  return names;
}

std::vector<std::string> write_scenarios(const FitsReport& report, const std::string& folder,
                                         const std::string& model,
                                         const std::vector<std::string>& names) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw IoError("cannot make the folder '" + folder + "': " + error.message());
  std::vector<std::string> files;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string stem = fs::path(model).stem().string() + "_" + names[i];
    files.push_back((fs::path(folder) / (stem + ".yaml")).string());
    if (fs::exists(files.back(), error))
      throw UsageError("'" + files.back() + "' is there already; give '--write' another folder");
    write_file(files.back(), report.cards[i].scenario);
  }
  return files;
}

int run_fits(const Arguments& arguments) {
  FitsRequest request = request_of(arguments);
  std::vector<std::string> names = {"unlimited"};
  if (arguments.has("platform")) names = add_platforms(request, arguments.text("platform"));
  const FitsReport report = fits(request);
  FitsAnswer answer{request, report, names, {}};
  if (arguments.has("write"))
    answer.files =
        write_scenarios(report, arguments.text("write"), arguments.positionals.front(), names);
  print(arguments.has("json") ? fits_json(answer) : fits_text(answer));
  const bool none_fits = std::all_of(report.cards.begin(), report.cards.end(),
                                     [](const CardFit& card) { return card.largest == 0; });
  return none_fits ? 4 : 0;
}

}  // namespace

extern const Command fits_command;
const Command fits_command = {
    .name = "fits",
    .summary = "Says how many samples fit each card of a list, and what fills its memory.",
    .usage = {"MODEL [KEY=VALUE...] [--platform P,P...] [--mode M] [--optimizer O] [--dtype T]\n"
              "              [--policy P] [--fates F] [--batch N] [--write FOLDER] [--json]"},
    .least = 1,
    .most = 1,
    .positionals = "MODEL",
    .overrides = true,
    .options = {{.name = "platform",
                 .value = "P,P...",
                 .summary = "files, or names of `sluice list platforms`",
                 .absent = "one device without limit"},
                {.name = "mode",
                 .value = "M",
                 .summary = "what is computed",
                 .absent = "training",
                 .choices = {"inference", "training"}},
                {.name = "optimizer",
                 .value = "O",
                 .summary = "what updates the weights",
                 .absent = "sgd",
                 .names = [] { return optimizer_catalog().names(); }},
                {.name = "dtype",
                 .value = "T",
                 .summary = "element type of weights and activations",
                 .absent = "float32",
                 .choices = dtype_names()},
                {.name = "policy",
                 .value = "P",
                 .summary = "do weights stay, or take turns?",
                 .absent = "resident",
                 .choices = {"resident", "streamed"}},
                {.name = "fates",
                 .value = "F",
                 .summary = "what becomes of activations",
                 .absent = "keep_all",
                 .names = [] { return fate_catalog().names(); }},
                {.name = "batch",
                 .value = "N",
                 .summary = "a batch to be accumulated from micro-batches",
                 .absent = "four times the largest micro-batch, when training"},
                {.name = "write",
                 .value = "FOLDER",
                 .summary = "write the scenario of each card's largest micro-batch there, for "
                            "`sluice run`",
                 .absent = "none is written"},
                {.name = "json", .summary = "as JSON, with full precision"}},
    .details =
        "MODEL is a file, or the name of one of `sluice list models`. KEY=VALUE or\n"
        "model.KEY=VALUE sets its parameters and scale; where KEY begins with platform, workload,\n"
        "stages, policy, phases, fates, cost or memory it changes the scenario, as in\n"
        "workload.master_weights=true.\n\n"
        "A micro-batch fits when its scenario has a plan and the plan passes the check of `sluice\n"
        "run`: with --write, that runs the largest one (exit code 0), and one more, with\n"
        "workload.batch=N, exits 4. Without accumulation the micro-batch is the batch. The "
        "largest\n"
        "is found by doubling and bisection, and three above it are asked; that none beyond them\n"
        "fits is not proven. Stages are cut wherever one tensor alone crosses (stages.cut).\n\n"
        "Memory by class is what the device holds at the first moment of its peak, when one thing\n"
        "is done at a time: the least that is needed. Transfers that overlap take what is left.\n"
        "What the next one lacks is its peak, were there memory for it, beyond the capacity.\n\n"
        "Accumulation: any multiple of a micro-batch that fits. The batch shown is computed in\n"
        "the largest of its divisors that fit; beside its step stands that of the whole batch at\n"
        "once, were there memory for it. Seconds are those of the cost model (cost.model), of a\n"
        "step in the steady state. With cost.model=measured sizes alone decide (a cut or fates\n"
        "that look at seconds see those of peak), and only the micro-batch that was measured has\n"
        "a step: give it as --batch.\n\n"
        "Caches of keys and values (kv_cache) are of all samples of a step: model parameters such\n"
        "as tokens=1 cached=4095, with --mode inference.\n\n"
        "JSON keys: format, model, mode, dtype, optimizer (null for inference), policy, fates,\n"
        "measured_batch (of cost.model=measured, else null), cards (platform, device, cost,\n"
        "capacity_bytes or null, largest: samples, null where any fit;\n"
        "one, most and next: samples, bytes, by_class, action, doing, or null; missing_bytes,\n"
        "refusal, step_s, samples_per_s, accumulation: batch, micro_batch, step_s,\n"
        "at_once_s, or null; scenario: its file or null).\n\n"
        "Exit code 4 when not one sample fits any of the cards.\n",
    .examples = {{"sluice fits cnn_mnist --platform gtx980,k40,k20 --optimizer adam",
                  "the largest batch of a small network on three cards"},
                 {"sluice fits gpt2 --platform a100_pcie --optimizer adam --dtype float16 --fates "
                  "selective --batch 512",
                  "how 512 sequences are accumulated, and what that costs"}},
    .run = run_fits,
};

}  // namespace sluice
