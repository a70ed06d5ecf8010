// sluice list: what there is, from the records and the zoos.
#include <filesystem>

#include "document/load.hpp"
#include "metrics/metric.hpp"
#include "model/catalog.hpp"
#include "policy/fates/strategy.hpp"
#include "policy/policy.hpp"
#include "stage/stage.hpp"

#include "command/inputs.hpp"
#include "command/json.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

/// What is known of one entry, whatever its kind.
struct Entry {
  std::string name, summary, source;
  std::string unit;  ///< of a metric
  std::string file;  ///< of a document
  const std::vector<Field>* parameters = nullptr;
};

template <class Kind>
std::vector<Entry> entries_of(const Catalog<Kind>& catalog) {
  std::vector<Entry> entries;
  for (const Kind* kind : catalog.entries()) {
    Entry entry{kind->name, kind->summary, kind->source, {}, {}};
    if constexpr (requires { kind->parameters; }) entry.parameters = &kind->parameters;
    if constexpr (requires { kind->unit; }) entry.unit = kind->unit;
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string text_at(const Value& document, const char* key) {
  const Value* value = document.find(key);
  return value != nullptr && value->is_scalar() ? value->text() : "";
}

/// A stage table in data-island form has no summary: it says what it is.
std::vector<Entry> documents_of(const std::string& folder) {
  std::vector<Entry> entries;
  for (const std::string& file : zoo_files(folder)) {
    const Value document = load_document(file);
    Entry entry;
    entry.name = std::filesystem::path(file).stem().string();
    entry.file = file;
    entry.summary = text_at(document, folder == "scenarios" ? "question" : "summary");
    if (entry.summary.empty() && document.find("func")) entry.summary = "A stage table.";
    entry.source = text_at(document, "source");
    entries.push_back(std::move(entry));
  }
  return entries;
}

struct Kind {
  std::string name;
  std::vector<Entry> (*entries)();
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> list = {
      {"policies", [] { return entries_of(policy_catalog()); }},
      {"layers", [] { return entries_of(layer_catalog()); }},
      {"costs", [] { return entries_of(cost_catalog()); }},
      {"cuts", [] { return entries_of(cut_catalog()); }},
      {"fates", [] { return entries_of(fate_catalog()); }},
      {"optimizers", [] { return entries_of(optimizer_catalog()); }},
      {"metrics", [] { return entries_of(metric_catalog()); }},
      {"models", [] { return documents_of("models"); }},
      {"platforms", [] { return documents_of("platforms"); }},
      {"scenarios", [] { return documents_of("scenarios"); }},
  };
  return list;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) names.push_back(kind.name);
  return names;
}

std::string details_of(const Entry& entry) {
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

std::string text_of(const std::vector<Entry>& entries, bool verbose) {
  std::size_t widest = 0;
  for (const Entry& entry : entries) widest = std::max(widest, columns_of(entry.name));
  std::string text;
  for (const Entry& entry : entries) {
    text += bold(padded(printable(entry.name), widest)) + "  " + printable(entry.summary) + "\n";
    if (verbose) text += details_of(entry) + "\n";
  }
  return text;
}

std::string json_of(const std::vector<Entry>& entries) {
  Value list = Value::make_list();
  for (const Entry& entry : entries) {
    Value map = Value::make_map();
    map.set("name", json_text(entry.name));
    map.set("summary", json_text(entry.summary));
    map.set("source", entry.source.empty() ? Value::make_null() : json_text(entry.source));
    if (!entry.file.empty()) map.set("file", json_text(entry.file));
    if (!entry.unit.empty()) map.set("unit", json_text(entry.unit));
    if (entry.parameters) {
      Value parameters = Value::make_list();
      for (const Field& field : *entry.parameters) parameters.items().push_back(json_field(field));
      map.set("parameters", std::move(parameters));
    }
    list.items().push_back(std::move(map));
  }
  return to_json(list);
}

int run_list(const Arguments& arguments) {
  const std::string& wanted = arguments.positionals.front();
  for (const Kind& kind : kinds()) {
    if (kind.name != wanted) continue;
    const std::vector<Entry> entries = kind.entries();
    print(arguments.has("json") ? json_of(entries) : text_of(entries, arguments.has("verbose")));
    return 0;
  }
  throw UsageError("nothing to list is called '" + wanted + "'" +
                   did_you_mean(wanted, kind_names()) + "; known: " + join(kind_names()));
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
