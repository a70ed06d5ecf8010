// The command `sluice profile cover` adds up the measured times of operators. It compares the sum with the measured
// time of the whole module or model.
#include "study/cover/cover.hpp"
#include "base/figures.hpp"
#include "base/quantity.hpp"
#include "command/profile/subcommands.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "document/bundled.hpp"
#include "document/load.hpp"
#include "document/object.hpp"

namespace sluice {
namespace {

std::optional<double> quantity_option(const Arguments& arguments, const char* option,
                                      Dimension dimension) {
  if (!arguments.has(option)) return std::nullopt;
  return parse_quantity(arguments.text(option), dimension, std::string("--") + option);
}

/// Returns the batch of the profile's rows. Throws UsageError if the rows have different batches.
std::int64_t usual_batch(const Profile& profile) {
  std::int64_t batch = 0;
  for (const ProfileRow& row : profile.rows) {
    if (!row.batch || row.processed != Processed::yes) continue;
    if (batch != 0 && batch != *row.batch)
      throw UsageError("the profile has rows of several batches; choose one batch with --batch");
    batch = *row.batch;
  }
  return std::max<std::int64_t>(batch, 1);
}

std::string share_line(const char* what, const std::string& attributed,
                       const std::optional<double>& share, const std::string& whole) {
  return std::string(what) + attributed + " attributed" +
         (share ? " of " + whole + " (" + percent(*share) + ")"
                : ", the value of the whole is not known") +
         "\n";
}

std::string next_text(const Cover& cover, double target) {
  const std::string each = cover.missing.empty() ? "each operator was measured; " : "";
  if (!cover.whole_s)
    return each +
           "to compare the sum with the target, measure the whole model or module (level: whole), or give --whole\n";
  if (cover.missing.empty()) return each + "the rest of the time is spent between operators\n";
  if (!cover.needed)
    return "even if all remaining operators are measured, they are not expected to reach " +
           percent(target) + "; measure the parts of operators, and the time between operators\n";
  if (*cover.needed == 0) return "the target of " + percent(target) + " is reached\n";
  return "measure the first " + std::to_string(*cover.needed) + " of these to reach " +
         percent(target) + ":\n";
}

/// Returns warnings about numbers that are easily misread.
std::string warnings_of(const Cover& cover) {
  std::string text;
  for (const auto& [where, operators] : cover.elsewhere) {
    const std::string count =
        std::to_string(operators) + (operators == 1 ? " operator" : " operators");
    const std::string option = where.rfind("in ", 0) == 0 ? "--dtype" : "--batch";
    text += "the profile has " + count + " " + where +
            " but not for the requested batch and dtype: choose with " + option + "\n";
  }
  const auto share_s = cover.share_s(), share_j = cover.share_j();
  if (share_s.value_or(0) > 1 || share_j.value_or(0) > 1)
    text +=
        "the parts take longer than the whole: parts and whole were measured under different conditions (such as cold "
        "and hot), or in different runs\n";
  return text;
}

std::string text_of(const Cover& cover, const CoverRequest& request, std::size_t most) {
  std::string text = std::to_string(cover.measured) + " of " + std::to_string(cover.operators) +
                     " operators measured\n";
  text += share_line("time    ", seconds_cell(cover.attributed_s), cover.share_s(),
                     seconds_cell(cover.whole_s));
  if (cover.with_energy > 0)
    text += share_line("energy  ", joules_cell(cover.attributed_j), cover.share_j(),
                       joules_cell(cover.whole_j));
  text += warnings_of(cover);
  text += next_text(cover, request.target);
  TextTable table{.columns = {left("not measured"), right("occurrences"), right("expected")},
                  .rows = {}};
  for (const UnmeasuredOperator& one : cover.missing) {
    if (table.rows.size() == most) break;
    table.rows.push_back({printable(one.words), std::to_string(one.occurrences),
                          one.expected_s > 0 ? seconds_cell(one.expected_s) : "-"});
  }
  return table.rows.empty() ? text : text + "\n" + table.aligned();
}

Value missing_json(const UnmeasuredOperator& one) {
  return object(
      {{"operator", one.words}, {"occurrences", one.occurrences}, {"expected_s", one.expected_s}});
}

std::string json_of(const Cover& cover, const CoverRequest& request) {
  Value elsewhere = Value::make_map();
  for (const auto& [where, operators] : cover.elsewhere)
    elsewhere.set(where, Value::make(static_cast<std::int64_t>(operators)));
  return to_json(
      object({{"format", "sluice-profile-cover/1"},
              {"operators", cover.operators},
              {"measured", cover.measured},
              {"attributed_s", cover.attributed_s},
              {"whole_s", cover.whole_s},
              {"share_s", cover.share_s()},
              {"attributed_j", cover.with_energy > 0 ? Item(cover.attributed_j) : Item(nullptr)},
              {"whole_j", cover.whole_j},
              {"share_j", cover.share_j()},
              {"target", request.target},
              {"needed", cover.needed ? Item(*cover.needed) : Item(nullptr)},
              {"elsewhere", elsewhere},
              {"missing", list_of(cover.missing, missing_json)}}));
}

int run_cover(const Arguments& arguments) {
  const bool of_model = arguments.positionals.size() == 2;
  const Profile profile = read_profile(arguments, arguments.positionals.back());
  CoverRequest request{.dtype = arguments.text("dtype", of_model ? "float32" : ""),
                       .target = share_option(arguments, "target", 0.9),
                       .whole_s = quantity_option(arguments, "whole", Dimension::seconds),
                       .whole_j = quantity_option(arguments, "whole-energy", Dimension::joules)};
  request.passes = passes_of(arguments);
  request.samples = arguments.has("batch") ? arguments.integer("batch", 1, 1, 1'000'000'000)
                                           : usual_batch(profile);
  std::optional<Platform> platform;
  if (arguments.has("platform")) {
    platform = load_platform(arguments.text("platform"));
    request.device = &platform->devices.front();
  }
  if (!of_model && !arguments.overrides.empty())
    throw UsageError("'" + arguments.overrides.front() +
                     "' changes a MODEL, but no MODEL is given; name a MODEL, or remove this word");
  const Cover cover =
      of_model ? cover_of(read_model(
                              load_model_use(find_document(arguments.positionals.front(), "models"),
                                             arguments.overrides),
                              request.passes.size() > 1 ? Purpose::training : Purpose::inference),
                          profile, request)
               : cover_of_rows(profile, request);
  const auto most = static_cast<std::size_t>(arguments.integer("rows", 10, 0, 1'000'000));
  print(arguments.has("json") ? json_of(cover, request) : text_of(cover, request, most));
  const auto share = cover.share_s();
  return arguments.has("target") && !(share && *share >= request.target) ? 1 : 0;
}

std::vector<Option> options() {
  std::vector<Option> all = reading_options();
  for (Option& option :
       operator_options("the number of samples", "that of the profile",
                        "float32 with a MODEL; otherwise the dtype of the profile"))
    all.push_back(std::move(option));
  const std::vector<Option> own = {
      {.name = "whole",
       .value = "T",
       .summary = "seconds of the whole model or module, such as 12ms",
       .absent = "the seconds of the profile's row with level: whole"},
      {.name = "whole-energy",
       .value = "E",
       .summary = "joules of the whole model or module, such as 3J",
       .absent = "the joules of the profile's row with level: whole"},
      {.name = "target",
       .value = "S",
       .summary =
           "the share of the whole time that measured operators must reach. With this option, the exit code is 1 if "
           "they do not reach it",
       .absent = "90%"},
      {.name = "platform",
       .value = "PLATFORM",
       .summary =
           "unmeasured operators are ranked by the seconds that they would take at the rates of this platform",
       .absent = "rates at which 10 FLOP take as long as one byte",
       .suggested = [] { return bundled_names("platforms"); }},
      {.name = "rows",
       .value = "N",
       .summary = "how many unmeasured operators are printed",
       .absent = "10"},
      {.name = "json", .summary = "print the answer as JSON, with all unmeasured operators"}};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

}  // namespace

extern const Command profile_cover_command = {
    .name = "profile cover",
    .summary =
        "Says how much of a model's measured time its measured operators explain, and which operators to "
        "measure next.",
    .usage = {"MODEL [KEY=VALUE...] PROFILE [--batch N] [--mode training] [--whole T] [--target S]",
              "PROFILE [--where model=NAME] [...]"},
    .least = 1,
    .most = 2,
    .positionals = "MODEL and PROFILE, or a PROFILE",
    .names_folder = "models",
    .overrides = true,
    .options = options(),
    .details =
        "The command multiplies the occurrences of each operator by its time in the profile, and adds up these "
        "products. Without a MODEL, the profile gives the occurrences. Rows of modules with children (level: inner) "
        "are never summed. The row of the whole model is only compared with the sum. The seconds of an unmeasured "
        "operator are computed from its FLOP and bytes, with the rates of a platform. These seconds rank the "
        "operators. The expected time of an unmeasured operator is its computed seconds times a factor. The factor "
        "comes from the measured operators: their measured seconds divided by their computed seconds.\n",
    .examples =
        {{"sluice profile cover resnet50 measured.csv --whole 42ms",
          "the operators' share of the time, and which operators to measure next"},
         {"sluice profile cover resnet18.csv --target 90%",
          "for continuous integration: exit code 1 if the measured operators make up less than 90 %"}},
    .run = run_cover,
};

}  // namespace sluice
