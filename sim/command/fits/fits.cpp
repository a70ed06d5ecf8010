// The command `sluice fits` says how many samples of a model fit on each card of a list.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/dtype.hpp"
#include "base/part_file.hpp"
#include "base/split.hpp"
#include "document/bundled.hpp"
#include "document/key.hpp"
#include "document/load.hpp"
#include "document/override.hpp"
#include "fates/strategy.hpp"
#include "platform/written.hpp"
#include "scenario/scenario.hpp"

#include "command/fits/report.hpp"
#include "command/inputs.hpp"
#include "command/page.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// With this value of `--fates`, the command prints a table of all strategies.
constexpr const char* all_strategies = "all";

std::vector<std::string> names_in(const std::string& list, const std::string& option) {
  const std::vector<std::string_view> names = split(list, ",");
  if (std::ranges::find(names, "") != names.end())
    throw UsageError(
        "'" + list + "' for '--" + option +
        "' has an empty name between its commas; expected one name, or several names separated by commas");
  return {names.begin(), names.end()};
}

/// Returns whether the key of a KEY=VALUE is a key of the scenario, such as workload.dtype. Every other key belongs to
/// the model.
bool of_scenario(const std::string& text) {
  const std::string head = text.substr(0, text.find_first_of(".="));
  const Field* const field = find_field(scenario_record().fields, head);
  return head != "model" && field && field->type == Type::mapping;
}

FitsRequest request_of(const Arguments& arguments) {
  FitsRequest request;
  request.mode = arguments.text("mode", request.mode);
  if (arguments.has("optimizer") && request.mode == "inference")
    throw UsageError(
        "'--optimizer' is for '--mode training'; remove '--optimizer', or add '--mode training'");
  const std::string fates = arguments.text("fates", request.fates);
  if (request.mode == "inference" &&
      (fates == all_strategies || !fate_catalog().find(fates).inference))
    throw UsageError("'--fates " + fates +
                     "' is for '--mode training'; remove '--fates', or add '--mode training'");
  if (fates == all_strategies && arguments.has("write"))
    throw UsageError("'--write' writes the scenarios of one strategy; name it by '--fates F'");
  request.optimizer = arguments.text("optimizer");
  request.dtype = arguments.text("dtype", request.dtype);
  request.policy = arguments.text("policy", request.policy);
  request.fates = fates;
  if (arguments.has("batch")) request.batch = arguments.integer("batch", 1, 1, most_samples);
  std::vector<std::string> parameters;
  for (const std::string& text : arguments.overrides)
    (of_scenario(text) ? request.overrides : parameters).push_back(text);
  request.model =
      load_model_use(find_document(arguments.positionals.front(), "models"), parameters);
  return request;
}

struct Cards {
  std::vector<std::string> names;
  std::vector<Value> platforms;
};

void add_card(Cards& cards, const std::string& name, Value platform) {
  if (std::find(cards.names.begin(), cards.names.end(), name) != cards.names.end())
    throw UsageError("the list of cards names '" + name + "' twice; give it once");
  cards.names.push_back(name);
  cards.platforms.push_back(std::move(platform));
}

/// Returns a platform in which the default memory of each device has the given capacity.
Value with_memory(Value platform, const std::string& capacity) {
  std::vector<std::string> memories;
  for (const WrittenPart& device : written_parts(platform, "devices")) {
    const Value* memory = device.keys->is_map() ? device.keys->find("memory") : nullptr;
    const bool several = memory && memory->is_list() && !memory->items().empty();
    if (several) memory = &memory->items().front();
    if (memory && memory->is_scalar())
      throw UsageError("'--memory' changes a device's own memory, but '" + device.key +
                       "' uses the platform's memory '" + memory->text() + "'; override memories." +
                       memory->text() + ".capacity instead");
    memories.push_back(device.path + ".memory" + (several ? ".0" : ""));
  }
  for (const std::string& memory : memories)
    apply_override(platform, parse_override(memory + ".capacity=" + capacity));
  return platform;
}

/// Returns a card for each platform. If the user gives capacities, each pair of platform and capacity is a card.
Cards cards_of(const Arguments& arguments) {
  Cards cards;
  std::vector<std::string> memories;
  if (arguments.has("memory")) memories = names_in(arguments.text("memory"), "memory");
  if (!arguments.has("platform")) {
    if (!memories.empty()) throw UsageError("'--memory' needs '--platform'");
    cards.names = {"unlimited"};
    return cards;
  }
  for (const std::string& given : names_in(arguments.text("platform"), "platform")) {
    const std::string path = find_document(given, "platforms");
    const std::string name = fs::path(path).stem().string();
    const Value platform = load_document(path, "platforms");
    if (memories.empty()) add_card(cards, name, platform);
    for (const std::string& memory : memories)
      add_card(cards, name + "_" + memory, with_memory(platform, memory));
  }
  return cards;
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
    if (!report.cards[i].error.empty()) {
      files.emplace_back();
      continue;
    }
    files.push_back((fs::path(folder) / (stem + ".yaml")).string());
    if (fs::exists(files.back(), error))
      throw UsageError("'" + files.back() + "' exists already; give '--write' another folder");
    write_file(files.back(), report.cards[i].scenario);
  }
  return files;
}

/// Returns the requested strategy. For `all`, returns all strategies except the strategies for which the user must list
/// stages.
std::vector<std::string> strategies_of(const FitsRequest& request) {
  if (request.fates != all_strategies) return {request.fates};
  std::vector<std::string> names;
  for (const FateStrategy* strategy : fate_catalog().entries())
    if (strategy->compared || strategy->searches) names.push_back(strategy->name);
  return names;
}

/// Finds the answers for all strategies. The progress line is removed before an answer is printed.
std::vector<FitsAnswer> ask(const FitsRequest& request, const Cards& cards) {
  constexpr std::int64_t parts = 1000;
  ProgressLine line;
  std::vector<FitsAnswer> answers;
  const std::vector<std::string> strategies = strategies_of(request);
  for (const std::string& strategy : strategies) {
    FitsRequest one = request;
    one.fates = strategy;
    const auto before = static_cast<double>(answers.size());
    const auto all = static_cast<double>(strategies.size());
    if (line.active())
      one.progress = [&line, before, all](double share) {
        line.show(std::llround((before + share) / all * static_cast<double>(parts)), parts);
      };
    FitsReport report = fits(one);
    answers.push_back({std::move(one), std::move(report), cards.names, {}});
  }
  return answers;
}

int run_fits(const Arguments& arguments) {
  FitsRequest request = request_of(arguments);
  const Cards cards = cards_of(arguments);
  request.platforms = cards.platforms;
  std::vector<FitsAnswer> answers = ask(request, cards);
  if (arguments.has("write"))
    answers.front().files = write_scenarios(answers.front().report, arguments.text("write"),
                                            arguments.positionals.front(), cards.names);
  const bool json = arguments.has("json");
  if (request.fates == all_strategies)
    print(json ? fits_json(answers) : folded(fits_text(answers), page_width()));
  else
    print(json ? fits_json(answers.front()) : folded(fits_text(answers.front()), page_width()));
  const auto nothing = [](const CardFit& card) { return card.largest == 0 || !card.error.empty(); };
  const bool none_fits = std::all_of(answers.begin(), answers.end(), [&](const FitsAnswer& answer) {
    return std::all_of(answer.report.cards.begin(), answer.report.cards.end(), nothing);
  });
  return none_fits ? 4 : 0;
}

}  // namespace

extern const Command fits_command = {
    .name = "fits",
    .summary =
        "Says how many samples fit on each card of a list, and what fills the memory of the card.",
    .usage = {"MODEL [KEY=VALUE...] [--platform P,P...] [--memory B,B...] [--mode M]\n"
              "              [--optimizer O] [--dtype T] [--policy P] [--fates F] [--batch N]\n"
              "              [--write FOLDER] [--json]"},
    .least = 1,
    .most = 1,
    .positionals = "MODEL",
    .names_folder = "models",
    .overrides = true,
    .options =
        {{.name = "platform",
          .value = "P,P...",
          .summary = "files of platforms, or names that `sluice list platforms` prints",
          .absent = "one device with unlimited memory",
          .suggested = [] { return bundled_names("platforms"); }},
         {.name = "memory",
          .value = "B,B...",
          .summary = "sizes of memory, such as 8GB,16GB: try each platform with each size",
          .absent = "the platform's own"},
         {.name = "mode",
          .value = "M",
          .summary = "whether the model is trained",
          .absent = "training",
          .choices = {"inference", "training"}},
         {.name = "optimizer",
          .value = "O",
          .summary = "the rule that updates the weights",
          .absent = "sgd",
          .names = [] { return optimizer_catalog().names(); }},
         {.name = "dtype",
          .value = "T",
          .summary = "element type of weights and activations",
          .absent = "float32",
          .choices = dtype_names()},
         {.name = "policy",
          .value = "P",
          .summary =
              "the policy: weights stay on the device (resident), or take turns there (streamed)",
          .absent = "resident",
          .choices = {"resident", "streamed"}},
         {.name = "fates",
          .value = "F",
          .summary =
              "the strategy for activations. With 'all', the command prints a table with every strategy",
          .absent = "keep_all",
          .names = [] { return fate_catalog().names({all_strategies}); }},
         {.name = "batch",
          .value = "N",
          .summary = "the samples of a batch, whose micro-batches accumulate gradients",
          .absent = "in training, four times the largest micro-batch"},
         {.name = "write",
          .value = "FOLDER",
          .summary =
              "write the scenario of each card's largest micro-batch into this folder, for `sluice "
              "run`",
          .absent = "none is written"},
         {.name = "json", .summary = "print the answer as JSON, with full precision"}},
    .details =
        "MODEL is a file, or a name that `sluice list models` prints. KEY=VALUE or\n"
        "model.KEY=VALUE sets parameters and the scale of the model. A KEY that begins with\n"
        "platform, workload, stages, policy, phases, fates, cost or memory changes the scenario,\n"
        "as in workload.master_weights=true.\n\n"
        "A micro-batch fits if its scenario has a plan that passes the check of `sluice run`.\n"
        "--write FOLDER writes the scenario of the largest micro-batch. `sluice run` runs this\n"
        "scenario with exit code 0. With one more sample (workload.batch=N), the exit code is\n"
        "4. Without accumulation, the micro-batch is the batch. If a micro-batch does not fit,\n"
        "the number of missing bytes tells the search which size to try next. Above the largest\n"
        "micro-batch that fits, the search also tries the next three sizes. A still larger size\n"
        "may fit. With --fates optimal, it tries only the next size: if that size does not fit,\n"
        "no larger size fits. By default (stages.cut), the model is cut at each place that only\n"
        "a single tensor crosses.\n\n"
        "The table of memory is about a run in which only one action runs at a time. For the\n"
        "first moment of the device's peak, the table has the bytes of each class. Their sum is\n"
        "the least memory that the micro-batch needs. The rest of the memory is used by transfers\n"
        "that overlap with computation. The column \"the next one lacks\" is about one more sample:\n"
        "it gives the bytes by which the peak exceeds the capacity, and in brackets the class that\n"
        "grows most. If there is no answer for a card, the row of the card says why. For example,\n"
        "the card may have no rate for the dtype.\n\n"
        "Accumulation sums gradients over any number of micro-batches that fit. The batch is\n"
        "divided into micro-batches of one size, the largest divisor of the batch that fits.\n"
        "The cost model (cost.model) gives the seconds of a step in the steady state. With\n"
        "cost.model=measured, only the measured micro-batch has seconds: give its size as\n"
        "--batch. The search for the largest micro-batch then uses the cost model `peak`, if the\n"
        "cut or the fates need seconds.\n\n"
        "Caches of keys and values (kv_cache) are held for all samples of a step. To decode, set\n"
        "model parameters such as tokens=1 cached=4095, and --mode inference.\n\n"
        "JSON keys: format, model, mode, dtype, optimizer (null for inference), policy, fates,\n"
        "measured_batch (null except with cost.model=measured), cards. Keys of a card: platform,\n"
        "device, cost, capacity_bytes or null, reserved_bytes, largest (samples; null if any\n"
        "number fits), one, most and next (footprints: of one sample, of the largest micro-batch\n"
        "or, in unlimited memory, of the batch, and of the next larger micro-batch; each has\n"
        "samples, bytes, by_class, action, doing, or is null), missing_bytes, refusal, error (why\n"
        "there is no answer for the card), step_s, samples_per_s, accumulation (batch,\n"
        "micro_batch, step_s, or null), scenario (its file, or null). --fates all has strategies\n"
        "(fates, cards) instead of cards.\n\n"
        "The exit code is 4 if no card has room for a single sample.\n",
    .examples = {{"sluice fits cnn_mnist --platform gtx980,k40,k20 --optimizer adam",
                  "the largest batch of a small network on each of three cards"},
                 {"sluice fits gpt2 --platform a100_pcie --optimizer adam --dtype float16 --fates "
                  "selective --batch 512",
                  "how the gradients of 512 sequences are accumulated, and the time of a step"}},
    .run = run_fits,
};

}  // namespace sluice
