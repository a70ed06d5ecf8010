// The command `sluice list` lists the entries of all catalogs, and the bundled models, platforms and scenarios.
#include "base/suggest.hpp"
#include "command/table.hpp"
#include "document/load.hpp"
#include "study/zoo/entries.hpp"

#include "command/command.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

const RowsForm indented = {.indent = "    "};

std::string parameters_of(const std::vector<Field>& fields) {
  std::string text;
  for (const Field& field : fields) {
    std::string line = field.name + ": " + type_words(field);
    if (field.type != Type::choice && !field.choices.empty()) line += " or " + join(field.choices);
    if (field.default_text)
      line += " [" + *field.default_text + "]";
    else
      line += field.optional ? " (optional)" : " (required)";
    text += "    " + line + "\n        " + field.summary + "\n";
  }
  return folded(text, page_width());
}

/// Returns the parameters of a model with their defaults, or the figures of a platform with their sources.
std::string figures_of(const std::vector<Figure>& figures) {
  TextTable table{.columns = {left(""), left(""), left("")}, .rows = {}};
  for (const Figure& figure : figures)
    table.rows.push_back(
        {"    " + printable(figure.name), printable(figure.value), printable(figure.note)});
  const std::string text = table.aligned();
  return text.substr(text.find('\n') + 1);  // leaves out the line of headings
}

std::string details_of(const EntryDescription& entry) {
  LabelledRows rows;
  if (!entry.file.empty()) rows.emplace_back("file:", printable(entry.file));
  if (!entry.unit.empty()) rows.emplace_back("unit:", entry.unit);
  if (!entry.source.empty()) rows.emplace_back("source:", printable(entry.source));
  if (!entry.example.empty()) rows.emplace_back("example:", printable(entry.example));
  std::string text =
      entry.details.empty() ? "" : folded("    " + entry.details + "\n", page_width());
  text += rows_text(rows, indented);
  if (entry.parameters) text += parameters_of(*entry.parameters);
  if (!entry.figures.empty()) text += figures_of(entry.figures);
  return text;
}

std::string text_of(const std::vector<EntryDescription>& entries, bool verbose) {
  std::size_t widest = 0;
  for (const EntryDescription& entry : entries) widest = std::max(widest, columns_of(entry.name));
  std::string text;
  for (const EntryDescription& entry : entries) {
    text += rows_text({{printable(entry.name), printable(entry.summary)}},
                      {.label_columns = widest, .bold_labels = true});
    if (verbose) text += details_of(entry) + "\n";
  }
  return text;
}

/// Returns an overview of all lists, for `sluice list` without the name of a list.
std::string overview() {
  LabelledRows rows;
  for (const EntryKind& kind : entry_kinds())
    rows.emplace_back(kind.name, std::to_string(kind.count) + ": " + kind.summary);
  return rows_text(rows, {.bold_labels = true}) +
         folded(
             "\n`sluice list models` prints each model with a sentence about it. With -v, the list also has the "
             "parameters of models, policies and other entries, the figures of platforms, and sources.\n",
             page_width());
}

int run_list(const Arguments& arguments) {
  if (arguments.positionals.empty()) {
    if (arguments.has("json"))
      throw UsageError("'--json' needs a kind to list: one of " + join(entry_kind_names()));
    print(overview());
    return 0;
  }
  const std::vector<EntryDescription> entries = entries_of_kind(arguments.positionals.front());
  print(arguments.has("json") ? to_json(entries_json(entries))
                              : text_of(entries, arguments.has("verbose")));
  return 0;
}

}  // namespace

extern const Command list_command = {
    .name = "list",
    .summary = "Lists models, platforms, scenarios, policies, layers, metrics and more.",
    .usage = {"", "KIND [-v] [--json]"},
    .least = 0,
    .most = 1,
    .positionals =
        "one of policies, layers, costs, cuts, fates, optimizers, metrics, models, platforms, scenarios",
    .names = [] { return entry_kind_names(); },
    .options =
        {{.name = "verbose",
          .letter = 'v',
          .summary =
              "also print parameters with their defaults and help, the figures of platforms, and sources"},
         {.name = "json", .summary = "print everything as JSON"}},
    .details =
        "Without KIND, the command prints an overview of all lists. KIND is one of policies,\n"
        "layers, costs, cuts, fates, optimizers, metrics, models, platforms, scenarios.\n\n"
        "Models, platforms and scenarios are read from the folders below SLUICE_ROOT. If\n"
        "SLUICE_ROOT is not set, these documents are read from the folders below the folder\n"
        "from which Sluice was built.\n",
    .examples = {{"sluice list models -v", "every model with its parameters and their defaults"},
                 {"sluice list policies -v", "every policy with its parameters"},
                 {"sluice list metrics --json",
                  "the definitions of the metrics as JSON, for a script"}},
    .run = run_list,
};

}  // namespace sluice
