// The command `sluice profile` works with measured times and energies of operators.
#include <algorithm>
#include <utility>

#include "base/dtype.hpp"
#include "base/figures.hpp"
#include "base/quantity.hpp"
#include "command/profile/subcommands.hpp"
#include "profile/compare.hpp"
#include "profile/tables/table.hpp"

namespace sluice {

// clang-format off
const Catalog<Command>& profile_subcommands() {
  static const Catalog<Command> catalog("subcommand of profile", {
      SLUICE_ENTRY(Command, profile_show_command),
      SLUICE_ENTRY(Command, profile_compare_command),
      SLUICE_ENTRY(Command, profile_merge_command),
      SLUICE_ENTRY(Command, profile_plan_command),
      SLUICE_ENTRY(Command, profile_cover_command),
      SLUICE_ENTRY(Command, profile_link_command),
      SLUICE_ENTRY(Command, profile_fit_command),
  });
  return catalog;
}
// clang-format on

std::vector<Option> reading_options() {
  return {
      {.name = "map",
       .value = "MAP",
       .summary = "a sluice-profile-map/1 document, which says what the columns of the table mean",
       .absent = "not needed for a table that Sluice recognises by its heading"},
      {.name = "where",
       .value = "COLUMN=VALUE",
       .summary =
           "use only rows with this value in the column. Separate several conditions by semicolons. If a value "
           "contains a semicolon, put the value in double quotes"}};
}

namespace {

/// Splits a list of conditions COLUMN=VALUE at each semicolon. A value in quotes may contain semicolons.
std::vector<std::pair<std::string, std::string>> conditions_of(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> conditions;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t equals = text.find('=', at);
    std::size_t end = std::min(text.find(';', at), text.size());
    if (equals == std::string::npos || equals > end)
      throw UsageError("'" + text.substr(at, end - at) +
                       "' for '--where': expected COLUMN=VALUE, such as cache=hot, or "
                       "COLUMN=\"VALUE\" where the value contains a ;");
    std::string value = text.substr(equals + 1, end - equals - 1);
    const std::size_t quote =
        value.rfind('"', 0) == 0 ? text.find('"', equals + 2) : std::string::npos;
    if (quote != std::string::npos && (quote + 1 == text.size() || text[quote + 1] == ';')) {
      value = text.substr(equals + 2, quote - equals - 2);
      end = quote + 1;
    }
    conditions.emplace_back(text.substr(at, equals - at), value);
    at = end + 1;
  }
  return conditions;
}

}  // namespace

Profile read_profile(const Arguments& arguments, const std::string& path) {
  Profile profile = load_profile(path, arguments.text("map"));
  for (const auto& [column, value] : conditions_of(arguments.text("where")))
    profile = rows_where(profile, column, value);
  return profile;
}

std::vector<Option> operator_options(const std::string& batch_summary,
                                     const std::string& batch_absent,
                                     const std::string& dtype_absent) {
  return {{.name = "batch", .value = "N", .summary = batch_summary, .absent = batch_absent},
          {.name = "dtype",
           .value = "T",
           .summary = "element type",
           .absent = dtype_absent,
           .choices = dtype_names()},
          {.name = "mode",
           .value = "M",
           .summary = "with training, the backward passes are included",
           .absent = "inference",
           .choices = {"inference", "training"}}};
}

std::vector<std::string> passes_of(const Arguments& arguments) {
  if (arguments.text("mode", "inference") == "training") return {"forward", "backward"};
  return {"forward"};
}

double share_option(const Arguments& arguments, const std::string& option, double absent) {
  if (!arguments.has(option)) return absent;
  double share = 0;
  try {
    share = parse_quantity(arguments.text(option), Dimension::none, option);
  } catch (const InputError& error) {
    throw UsageError(std::string("'--") + option + "': " + error.what());
  }
  if (share > 1)
    throw UsageError("'" + arguments.text(option) + "' for '--" + option +
                     "': expected a share from 0 to 1, as in 5%");
  return share;
}

std::string seconds_cell(const std::optional<double>& seconds) {
  return seconds ? format_seconds(*seconds) : "-";
}

std::string joules_cell(const std::optional<double>& joules) {
  return joules ? format_quantity(*joules, Dimension::joules) : "-";
}

namespace {

HelpRows tables_that_are_known() {
  HelpRows rows;
  for (const ForeignTable* table : foreign_tables().entries())
    rows.emplace_back(table->name, table->summary + " " + table->source + ".");
  return rows;
}

}  // namespace

extern const Command profile_command = {
    .name = "profile",
    .summary = "Shows and compares measured operators, and plans which operators to measure.",
    .usage = {"SUBCOMMAND [ARGUMENT...]"},
    .least = 1,
    .most = 1,
    .positionals = "a subcommand",
    .details =
        "A profile is a table of operators with their measured seconds and joules (sim/profile/FORMAT.md). The cost "
        "model `measured` uses a profile: cost: {model: measured, profile: FILE}. Tables of other programs can be read "
        "as profiles, too. Sluice recognises the following tables by their headings:\n",
    .listed = tables_that_are_known,
    .examples = {{"sluice profile show operators.csv",
                  "which operators were measured, and how reliable the "
                  "measurements are"},
                 {"sluice profile compare operators.csv --between cache=hot,cold",
                  "how much faster operators are with hot caches than with cold caches"},
                 {"sluice help profile compare", "the help of a subcommand"}},
    .subcommands = profile_subcommands,
};

}  // namespace sluice
