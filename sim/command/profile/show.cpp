// The command `sluice profile show` shows which operators were measured, and how reliable the measurements are.
#include <algorithm>

#include "base/figures.hpp"
#include "base/quantity.hpp"
#include "command/profile/subcommands.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "cost/measured/table.hpp"
#include "document/bundled.hpp"
#include "document/load.hpp"
#include "document/object.hpp"
#include "profile/columns.hpp"
#include "profile/summary.hpp"

namespace sluice {
namespace {

std::string count_of(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string header_lines(const Profile& profile, const ProfileSummary& summary) {
  std::string text = printable(profile.path) + ": " + count_of(summary.rows, "row") + ", " +
                     std::to_string(summary.measured) + " measured";
  if (summary.planned > 0) text += ", " + std::to_string(summary.planned) + " planned";
  if (summary.failed > 0) text += ", " + std::to_string(summary.failed) + " failed";
  text += ", " + std::to_string(summary.with_energy) + " with energy\n";
  LabelledRows rows;
  for (const char* key : {"name", "summary", "source", "licence", "date", "device"})
    if (const std::string value = profile.text(key); !value.empty())
      rows.emplace_back(key, printable(value));
  return text + rows_text(rows, {.indent = "  "});
}

/// Returns a text about two kinds of rows: rows of modules that contain other modules, and rows of whole models.
std::string wholes_text(const Profile& profile, std::size_t most) {
  TextTable table{.columns = {left("of several operators"), left("level"), left("model"),
                              right("batch"), right("seconds"), right("joules")},
                  .rows = {}};
  for (const ProfileRow& row : profile.rows) {
    if (row.level == Level::leaf) continue;
    if (table.rows.size() == most) break;
    table.rows.push_back({printable(words_of(row)), profile_column("level").get(row),
                          printable(row.model), row.batch ? std::to_string(*row.batch) : "-",
                          seconds_cell(row.time()), joules_cell(row.energy())});
  }
  return table.rows.empty() ? "" : table.aligned() + "\n";
}

std::string classes_text(const ProfileSummary& summary) {
  if (summary.classes.empty())
    return "The profile has no row of a single operator (level: leaf).\n";
  double seconds = 0;
  for (const ClassSummary& one : summary.classes) seconds += one.seconds;
  TextTable table{
      .columns = {left("operator"), right("rows"), right("measured"), right("configurations"),
                  right("seconds, all calls"), right("share"), right("joules")},
      .rows = {}};
  for (const ClassSummary& one : summary.classes)
    table.rows.push_back({printable(one.operator_class), std::to_string(one.rows),
                          std::to_string(one.measured), std::to_string(one.configurations),
                          seconds_cell(one.seconds),
                          seconds > 0 ? percent(one.seconds / seconds) : "-",
                          one.joules > 0 ? joules_cell(one.joules) : "-"});
  return table.aligned();
}

/// Returns the median of a quantity over all rows, such as "1.2 %".
template <class Get>
std::string median_percent(const std::vector<SampledRow>& rows, Get&& get) {
  std::vector<double> numbers;
  for (const SampledRow& row : rows) numbers.push_back(get(row));
  return percent(median_of(numbers));
}

std::string sampled_text(const ProfileSummary& summary, std::size_t most) {
  if (summary.sampled.empty())
    return "No row says how often its operator was measured, or how much the measurements "
           "varied.\n";
  std::vector<SampledRow> with_samples;
  for (const SampledRow& row : summary.sampled)
    if (row.has_samples) with_samples.push_back(row);
  std::string text = "Variation within a row (" + count_of(summary.sampled.size(), "row") +
                     "): standard deviation / mean is " +
                     median_percent(summary.sampled, [](const auto& r) { return r.variation(); }) +
                     " in the median row";
  if (!with_samples.empty()) {
    std::size_t outliers = 0;
    for (const SampledRow& row : with_samples) outliers += row.seconds.outliers;
    text += "; the mean of the samples within 3 standard deviations differs from the median by " +
            median_percent(with_samples,
                           [](const auto& r) { return std::abs(r.seconds.disagreement()); }) +
            "; " + count_of(outliers, "outlier");
  }
  text += "\n";
  TextTable table{
      .columns = {left("row"), right("n"), right("median"), right("mean"), right("within 3 sd"),
                  right("sd / mean"), right("MAD"), right("outliers")},
      .rows = {}};
  for (const SampledRow& row : summary.sampled) {
    if (table.rows.size() == most) break;
    const Spread& s = row.seconds;
    const auto known = [&](double seconds) {
      return row.has_samples ? seconds_cell(seconds) : "-";
    };
    table.rows.push_back({printable(words_of(*row.row)), s.n == 0 ? "-" : std::to_string(s.n),
                          seconds_cell(s.median), seconds_cell(s.mean), known(s.mean_within),
                          percent(row.variation()), known(s.mad),
                          row.has_samples ? std::to_string(s.outliers) : "-"});
  }
  return text + table.aligned();
}

std::string repeated_text(const ProfileSummary& summary, std::size_t most) {
  if (summary.repeated.empty()) return "";
  TextTable table{.columns = {left("configuration in several rows"), right("rows"), right("least"),
                              right("most"), right("factor")},
                  .rows = {}};
  for (const ConfigurationSpread& one : summary.repeated) {
    if (table.rows.size() == most) break;
    table.rows.push_back({printable(one.words), std::to_string(one.seconds.n),
                          seconds_cell(one.seconds.least), seconds_cell(one.seconds.most),
                          ratio(one.factor())});
  }
  return "\n" + table.aligned();
}

Value class_json(const ClassSummary& one) {
  return object({{"operator", one.operator_class},
                 {"rows", one.rows},
                 {"measured", one.measured},
                 {"configurations", one.configurations},
                 {"seconds", one.seconds},
                 {"joules", one.joules}});
}

Value sampled_json(const SampledRow& row) {
  const Spread& s = row.seconds;
  const auto known = [&](double number) { return row.has_samples ? Item(number) : Item(nullptr); };
  return object({{"row", words_of(*row.row)},
                 {"line", row.row->line},
                 {"n", s.n},
                 {"median_s", s.median},
                 {"mean_s", s.mean},
                 {"mean_within_3_std_s", known(s.mean_within)},
                 {"std_s", s.std},
                 {"mad_s", known(s.mad)},
                 {"dropped", known(static_cast<double>(s.dropped))},
                 {"outliers", known(static_cast<double>(s.outliers))}});
}

Value repeated_json(const ConfigurationSpread& one) {
  return object({{"configuration", one.words},
                 {"rows", one.seconds.n},
                 {"least_s", one.seconds.least},
                 {"most_s", one.seconds.most}});
}

std::string json_of(const Profile& profile, const ProfileSummary& summary) {
  return to_json(object({{"format", "sluice-profile-summary/1"},
                         {"path", profile.path},
                         {"header", profile.header},
                         {"rows", summary.rows},
                         {"measured", summary.measured},
                         {"planned", summary.planned},
                         {"failed", summary.failed},
                         {"with_energy", summary.with_energy},
                         {"classes", list_of(summary.classes, class_json)},
                         {"sampled", list_of(summary.sampled, sampled_json)},
                         {"repeated", list_of(summary.repeated, repeated_json)}}));
}

/// Returns a text about the errors of interpolation between sizes. To find these errors, each row is estimated from all
/// other rows, and the estimate is compared with the row.
std::string left_out_text(const Profile& profile, const std::string& platform_name) {
  const Platform platform = load_platform(platform_name);
  const Device& device = platform.devices.front();
  const MeasuredTable table(profile, Interpolation::sizes, "median");
  std::string text;
  for (const auto& [dtype, rate] : device.rate)
    for (const auto& [of, left] : table.sizes_left_out(device, dtype))
      if (left.rows > 0)
        text += "\n" + of + " in " + std::string(name_of(dtype)) + " at the rates of " +
                platform.name + ": of " + count_of(left.rows, "row") +
                " that can be estimated from the other rows, half are estimated within " +
                percent(left.median) + " and 90 % within " + percent(left.ninetieth) + "\n";
  return text.empty() ? "\nno operator has known sizes and an element type for which " +
                            platform.name + " has a rate: nothing to interpolate\n"
                      : text;
}

int run_show(const Arguments& arguments) {
  const Profile profile = read_profile(arguments, arguments.positionals.front());
  const ProfileSummary summary = summary_of(profile);
  if (arguments.has("json")) {
    print(json_of(profile, summary));
    return 0;
  }
  const auto most = static_cast<std::size_t>(arguments.integer("rows", 10, 0, 1'000'000));
  print(
      header_lines(profile, summary) + "\n" + classes_text(summary) + "\n" +
      wholes_text(profile, most) + sampled_text(summary, most) + repeated_text(summary, most) +
      (arguments.has("interpolate") ? left_out_text(profile, arguments.text("interpolate")) : ""));
  return 0;
}

std::vector<Option> options() {
  std::vector<Option> all = reading_options();
  all.push_back(
      {.name = "rows",
       .value = "N",
       .summary =
           "the largest number of rows in each list: modules and models, rows that vary most, and repeated "
           "configurations",
       .absent = "10"});
  all.push_back(
      {.name = "interpolate",
       .value = "PLATFORM",
       .summary =
           "also print the errors of cost.interpolate=sizes at the rates of this platform: each row is estimated from "
           "all other rows",
       .suggested = [] { return bundled_names("platforms"); }});
  all.push_back({.name = "json", .summary = "print the answer as JSON, with all rows that vary"});
  return all;
}

}  // namespace

extern const Command profile_show_command = {
    .name = "profile show",
    .summary =
        "Shows which operators a profile contains and how reliable the measurements are, by class, by row and by "
        "configuration.",
    .usage = {"PROFILE [--where COLUMN=VALUE] [--rows N] [--json]", "TABLE.csv --map MAP.yaml"},
    .least = 1,
    .most = 1,
    .positionals = "PROFILE",
    .options = options(),
    .details =
        "The answer has the median, the mean, and the mean of the samples within 3 standard deviations of the "
        "mean. MAD is the median of the samples' distances from their median. An outlier is farther than 3 x 1.4826 MAD "
        "from the median. If several rows have the same configuration, it was measured several times. Such "
        "rows may be for several places of a graph, several memories, or several methods.\n",
    .examples = {{"sluice profile show operators.csv",
                  "which operators were measured, and how reliable the "
                  "measurements are"},
                 {"sluice profile show table.csv --map columns.yaml --json",
                  "a table of any program, with a map that says what its columns mean"}},
    .run = run_show,
};

}  // namespace sluice
