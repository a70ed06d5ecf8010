// sluice list: what there is, from the records and the zoos.
#include "base/suggest.hpp"
#include "command/table.hpp"
#include "document/load.hpp"
#include "study/zoo/listing.hpp"

#include "command/command.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

std::string details_of(const Listed& entry) {
  const std::string indent = "    ";
  std::string text;
  if (!entry.file.empty()) text += indent + "file: " + printable(entry.file) + "\n";
  if (!entry.unit.empty()) text += indent + "unit: " + entry.unit + "\n";
  if (!entry.source.empty()) text += indent + "source: " + printable(entry.source) + "\n";
  if (!entry.parameters) return text;
  for (const Field& field : *entry.parameters) {
    text += indent + field.name + ": " + type_words(field);
    if (field.type != Type::choice && !field.choices.empty()) text += " or " + join(field.choices);
    if (field.default_text)
      text += " [" + *field.default_text + "]";
    else
      text += field.optional ? " (optional)" : " (required)";
    text += "\n" + indent + indent + field.summary + "\n";
  }
  return text;
}

std::string text_of(const std::vector<Listed>& entries, bool verbose) {
  std::size_t widest = 0;
  for (const Listed& entry : entries) widest = std::max(widest, columns_of(entry.name));
  std::string text;
  for (const Listed& entry : entries) {
    text += rows_text({{printable(entry.name), printable(entry.summary)}},
                      {.label_columns = widest, .bold_labels = true});
    if (verbose) text += details_of(entry) + "\n";
  }
  return text;
}

int run_list(const Arguments& arguments) {
  const std::vector<Listed> entries = listing(arguments.positionals.front());
  print(arguments.has("json") ? to_json(listing_json(entries))
                              : text_of(entries, arguments.has("verbose")));
  return 0;
}

}  // namespace

extern const Command list_command;
const Command list_command = {
    .name = "list",
    .summary =
        "Lists policies, layers, costs, cuts, fates, optimizers, metrics, models, platforms or "
        "scenarios.",
    .usage = {"policies|layers|costs|cuts|fates|optimizers|metrics|models|platforms|scenarios [-v] "
              "[--json]"},
    .least = 1,
    .most = 1,
    .positionals =
        "what to list: policies, layers, costs, cuts, fates, optimizers, metrics, models, "
        "platforms or "
        "scenarios",
    .options = {{.name = "verbose",
                 .letter = 'v',
                 .summary = "with source, and with parameters, their defaults and help"},
                {.name = "json", .summary = "all that, as JSON"}},
    .details =
        "Models, platforms and scenarios are those of the folders below SLUICE_ROOT, or else\n"
        "below the folder that Sluice was built from.\n",
    .examples = {{"sluice list policies -v", "every policy with its parameters"},
                 {"sluice list metrics --json", "the definitions of the metrics, for a script"}},
    .run = run_list,
};

}  // namespace sluice
