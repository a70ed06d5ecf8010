// The command `sluice profile plan` lists the operators of a model that have to be measured.
#include <algorithm>

#include "base/figures.hpp"
#include "command/output.hpp"
#include "command/profile/subcommands.hpp"
#include "command/terminal.hpp"
#include "document/bundled.hpp"
#include "document/load.hpp"
#include "document/object.hpp"
#include "profile/cells.hpp"
#include "profile/placements.hpp"

namespace sluice {
namespace {

PlacementRequest request_of(const Arguments& arguments, const std::optional<Profile>& done) {
  PlacementRequest request{.samples = arguments.integer("batch", 1, 1, 1'000'000'000),
                           .dtype = arguments.text("dtype", "float32"),
                           .passes = passes_of(arguments)};
  if (arguments.has("pools")) request.pools = cell::parts_of(arguments.text("pools"), ',');
  for (std::size_t i = 0; i < request.pools.size(); ++i)
    if (request.pools[i].empty() ||
        std::count(request.pools.begin(), request.pools.end(), request.pools[i]) > 1)
      throw UsageError("'" + arguments.text("pools") +
                       "' for '--pools': expected different names of memories, such as DRAM,PMEM");
  if (arguments.has("fixed")) {
    if (request.pools.empty()) throw UsageError("'--fixed' needs '--pools'");
    request.fixed = cell::parts_of(arguments.text("fixed"), ',');
  }
  if (done) request.done = &*done;
  return request;
}

std::string text_of(const PlacementRequest& request, const MeasurementPlan& plan) {
  const std::string what = request.pools.empty() ? "operators" : "placements";
  std::string text = std::to_string(plan.wanted) + " " + what + ", " + std::to_string(plan.done) +
                     " measured already, " + std::to_string(plan.left()) + " to be measured";
  if (request.pools.empty() || plan.left() == 0) return text;
  text += ": " + std::to_string(plan.runs) + " runs instead of " + std::to_string(plan.left()) +
          " (" + ratio(static_cast<double>(plan.left()) / static_cast<double>(plan.runs)) +
          " times fewer runs)";
  if (plan.least_runs == plan.runs) return text + "; fewer runs are not possible";
  return text + "; at least " + std::to_string(plan.least_runs) + " runs are needed";
}

int run_plan(const Arguments& arguments) {
  std::optional<Profile> done;
  if (arguments.has("done")) done = load_profile(arguments.text("done"));
  const PlacementRequest request = request_of(arguments, done);
  const Model model = read_model(
      load_model_use(find_document(arguments.positionals.front(), "models"), arguments.overrides),
      request.passes.size() > 1 ? Purpose::training : Purpose::inference);
  const MeasurementPlan plan = plan_measurements(model, request);
  if (arguments.has("json")) {
    print(to_json(object({{"format", "sluice-profile-plan/1"},
                          {"model", model.name},
                          {"wanted", plan.wanted},
                          {"done", plan.done},
                          {"left", plan.left()},
                          {"runs", plan.runs},
                          {"least_runs", plan.least_runs}})));
    return 0;
  }
  if (!arguments.has("output")) {
    print(profile_text(plan.profile));
    message("sluice: " + text_of(request, plan));
    return 0;
  }
  refuse_to_replace(arguments, arguments.text("output"), Output::document);
  write_profile(plan.profile, arguments.text("output"));
  print(text_of(request, plan) + "\n");
  return 0;
}

std::vector<Option> options() {
  std::vector<Option> all =
      operator_options("the number of samples that are measured together", "1");
  const std::vector<Option> own = {
      {.name = "pools",
       .value = "A,B",
       .summary = "the names of the memories in which tensors may be"},
      {.name = "fixed",
       .value = "TENSORS",
       .summary =
           "the tensors that stay in the first memory: weights, input, output, or a layer's name for its output"},
      {.name = "done",
       .value = "PROFILE",
       .summary = "a profile. Its measured rows are left out of the answer"},
      {.name = "output",
       .letter = 'o',
       .value = "FILE",
       .summary = "the file to write, as CSV or HDF5",
       .absent = "printed as CSV"},
      force_option(Output::document),
      {.name = "json", .summary = "print the numbers of operators and runs as JSON"}};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

}  // namespace

extern const Command profile_plan_command = {
    .name = "profile plan",
    .summary =
        "Lists what has to be measured: the operators of a model, or the placements of their tensors.",
    .usage =
        {"MODEL [KEY=VALUE...] [--batch N] [--dtype T] [--mode training] [--done PROFILE] [-o FILE]",
         "MODEL --pools A,B [--fixed TENSORS] [...]"},
    .least = 1,
    .most = 1,
    .positionals = "MODEL",
    .names_folder = "models",
    .overrides = true,
    .options = options(),
    .details =
        "The answer is a profile without times. Fill in the times that you measure. Without --pools, operators with "
        "equal configurations and shapes share one row. The row has the number of occurrences. With --pools, each "
        "operator has one row per placement of its inputs, weights and output. With two memories and k tensors that "
        "are not fixed, an operator has 2^k rows. Rows with an equal `run` share no tensor, and may be measured "
        "together. To see whether this changes the times, use `sluice profile compare`: it compares operators that "
        "were measured together with operators that were measured alone.\n",
    .examples = {{"sluice profile plan resnet50 --batch 8 -o todo.csv",
                  "the operators of the model, each once"},
                 {"sluice profile plan cnn_mnist --pools DRAM,PMEM --fixed weights --json",
                  "the number of runs that the placements need"},
                 {"sluice profile plan resnet50 --batch 8 --done measured.csv",
                  "the operators that are still missing"}},
    .run = run_plan,
};

}  // namespace sluice
