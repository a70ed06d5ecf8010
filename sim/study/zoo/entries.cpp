#include "study/zoo/entries.hpp"

#include <algorithm>
#include <filesystem>

#include "base/suggest.hpp"
#include "document/bundled.hpp"
#include "document/load.hpp"
#include "document/object.hpp"
#include "fates/strategy.hpp"
#include "metrics/metric.hpp"
#include "model/catalog.hpp"
#include "policy/policy.hpp"
#include "stage/stage.hpp"

namespace sluice {
namespace {

template <class Kind>
std::vector<EntryDescription> entries_of(const Catalog<Kind>& catalog) {
  std::vector<EntryDescription> entries;
  for (const Kind* kind : catalog.entries()) {
    EntryDescription entry{.name = kind->name,
                           .summary = kind->summary,
                           .details = kind->details,
                           .source = kind->source};
    if constexpr (requires { kind->example; }) entry.example = kind->example;
    if constexpr (requires { kind->parameters; }) entry.parameters = &kind->parameters;
    if constexpr (requires { kind->unit; }) entry.unit = kind->unit;
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// Puts the word `auto` before the entries of a catalog. `auto` is not an entry of the catalog, but a value that leaves
/// the choice among the entries to Sluice.
std::vector<EntryDescription> with_auto(std::vector<EntryDescription> entries,
                                        const EntryDescription& word) {
  entries.insert(entries.begin(), word);
  return entries;
}

std::string text_at(const Value& document, const char* key) {
  const Value* value = document.find(key);
  return value != nullptr && value->is_scalar() ? value->text() : "";
}

/// Returns the comment behind the value: the text after '#' on the same line. For a figure, it says where the figure
/// comes from.
std::string comment_at(const Value& value) {
  const std::string line = value.source() ? value.position().source : "";
  const std::size_t mark = line.find(" #");
  const std::size_t begin = mark == std::string::npos ? mark : line.find_first_not_of(" #", mark);
  return begin == std::string::npos ? "" : line.substr(begin);
}

std::string text_of(const Value& value) {
  if (value.is_scalar()) return value.text();
  std::vector<std::string> words;
  if (value.is_map()) {
    for (const Value::Entry& entry : value.entries())
      words.push_back(entry.key + ": " + text_of(entry.value));
    return "{" + join(words) + "}";
  }
  for (const Value& item : value.items()) words.push_back(text_of(item));
  return "[" + join(words) + "]";
}

std::string sentence(const std::vector<std::string>& parts) {
  std::vector<std::string> said;
  for (const std::string& part : parts)
    if (!part.empty()) said.push_back(part);
  return join(said);
}

std::vector<Figure> parameters_of(const Value& model) {
  std::vector<Figure> figures;
  const Value* parameters = model.find("parameters");
  if (!parameters) return figures;
  for (const Value::Entry& entry : parameters->entries()) {
    const Value& one = entry.value;
    if (!one.is_map()) {
      figures.push_back({entry.key, text_of(one), ""});
      continue;
    }
    const std::string least = text_at(one, "minimum"), most = text_at(one, "maximum");
    figures.push_back({entry.key, text_at(one, "default"),
                       sentence({text_at(one, "summary"), least.empty() ? "" : "at least " + least,
                                 most.empty() ? "" : "at most " + most})});
  }
  return figures;
}

/// Collects all values that an override may change, each with its path.
void add_figures(std::vector<Figure>& figures, const Value& value, const std::string& way) {
  const auto is_map = [](const Value& item) { return item.is_map(); };
  if (value.is_list() && std::any_of(value.items().begin(), value.items().end(), is_map)) {
    for (std::size_t i = 0; i < value.items().size(); ++i)
      figures.push_back(
          {way + "." + std::to_string(i), text_of(value.items()[i]), comment_at(value.items()[i])});
    return;
  }
  if (!value.is_map()) {
    figures.push_back({way, text_of(value), comment_at(value)});
    return;
  }
  for (const Value::Entry& entry : value.entries())
    add_figures(figures, entry.value, way.empty() ? entry.key : way + "." + entry.key);
}

std::vector<Figure> figures_of(const Value& platform) {
  std::vector<Figure> figures;
  for (const Value::Entry& entry : platform.entries())
    if (entry.value.is_map() || entry.value.is_list()) add_figures(figures, entry.value, entry.key);
  return figures;
}

/// Lists the documents of a folder. A model in the form of a stage table (models/FORMAT.md) has no summary, so this
/// function adds a summary.
std::vector<EntryDescription> documents_of(const std::string& folder) {
  std::vector<EntryDescription> entries;
  for (const std::string& file : bundled_files(folder)) {
    const Value document = load_document(file, folder);
    EntryDescription entry;
    entry.name = std::filesystem::path(file).stem().string();
    entry.file = file;
    entry.summary = text_at(document, folder == "scenarios" ? "question" : "summary");
    if (entry.summary.empty() && document.find("func"))
      entry.summary = "This model is a stage table.";
    entry.source = text_at(document, "source");
    if (folder == "models") entry.figures = parameters_of(document);
    if (folder == "platforms") entry.figures = figures_of(document);
    entries.push_back(std::move(entry));
  }
  return entries;
}

struct Kind {
  std::string name, summary;
  std::vector<EntryDescription> (*entries)();
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> list = {
      {"policies",
       "the rules that plan the memory of weights and activations, and when these tensors move",
       [] { return entries_of(policy_catalog()); }},
      {"layers", "the operators of which a model consists",
       [] { return entries_of(layer_catalog()); }},
      {"costs", "the models that turn FLOP and bytes into seconds",
       [] { return entries_of(cost_catalog()); }},
      {"cuts", "the rules that cut a model into stages",
       [] {
         return with_auto(
             entries_of(cut_catalog()),
             {.name = "auto",
              .summary =
                  "This is the default. With `auto`, the policy makes a plan for each cut of a list. Then `auto` takes "
                  "the cut whose plan needs the least time.",
              .details =
                  "Use `auto` unless you study cuts. Each policy has its own list of cuts to compare "
                  "(scenarios/FORMAT.md). The answer says which cut was taken. A plan is made for each cut of the "
                  "list. So planning takes longer than with a named cut.",
              .source = "none, because `auto` simulates several plans and takes the fastest",
              .example = "sluice run alexnet_x200 stages=auto"});
       }},
      {"fates", "strategies that say whether activations are kept, recomputed or offloaded",
       [] {
         return with_auto(
             entries_of(fate_catalog()),
             {.name = "auto",
              .summary =
                  "This is the default. In training, `auto` makes a plan for each strategy that treats all stages "
                  "alike. `optimal` and `listed` are not among these strategies. `auto` takes the plan with the "
                  "least time. In inference, the policy chooses.",
              .details =
                  "Use `auto` unless you study strategies. The answer says which strategy was taken. A plan is made "
                  "for each of these strategies. So planning takes longer than with a named strategy.",
              .source = "none, because `auto` simulates several plans and takes the fastest",
              .example =
                  "sluice run alexnet_resident workload.mode=training policy=resident fates=auto"});
       }},
      {"optimizers", "the rules that update weights in training",
       [] { return entries_of(optimizer_catalog()); }},
      {"metrics", "the numbers of an answer", [] { return entries_of(metric_catalog()); }},
      {"models", "networks that come with Sluice", [] { return documents_of("models"); }},
      {"platforms", "machines that come with Sluice", [] { return documents_of("platforms"); }},
      {"scenarios", "questions that come with Sluice", [] { return documents_of("scenarios"); }},
      {"fits", "fits that come with Sluice: times of operators as a function of their sizes",
       [] { return documents_of("fits"); }},
  };
  return list;
}

}  // namespace

std::vector<std::string> entry_kind_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) names.push_back(kind.name);
  return names;
}

std::vector<EntryKind> entry_kinds() {
  std::vector<EntryKind> all;
  for (const Kind& kind : kinds()) {
    const bool files = kind.name == "models" || kind.name == "platforms" ||
                       kind.name == "scenarios" || kind.name == "fits";
    all.push_back(
        {kind.name, kind.summary, files ? bundled_files(kind.name).size() : kind.entries().size()});
  }
  return all;
}

std::vector<EntryDescription> entries_of_kind(const std::string& wanted) {
  for (const Kind& kind : kinds())
    if (kind.name == wanted) return kind.entries();
  throw UsageError("there is no list called '" + wanted + "'" +
                   did_you_mean(wanted, entry_kind_names()) +
                   "; known: " + join(entry_kind_names()));
}

std::string type_words(const Field& field) {
  switch (field.type) {
    case Type::boolean:
      return "true or false";
    case Type::integer:
      return "integer";
    case Type::number:
      return "number or percentage";
    case Type::quantity:
      return std::string(words_of(field.dimension)) + ", like " +
             std::string(example_of(field.dimension));
    case Type::text:
      return "text";
    case Type::choice:
      return "one of " + join(field.choices);
    case Type::mapping:
      return "mapping";
    case Type::list:
      return "list";
    case Type::any:
      return "any value";
  }
  return "any value";
}

/// Returns a field of a record as a JSON object with the name, type, default, choices and help of the field.
static Value json_field(const Field& field) {
  return object({
      {"name", field.name},
      {"type", type_words(field)},
      {"required", !field.optional && !field.default_text},
      {"default", field.default_text},
      {"choices", list_of(field.choices, json_text)},
      {"summary", field.summary},
  });
}

Value entries_json(const std::vector<EntryDescription>& entries) {
  return list_of(entries, [](const EntryDescription& entry) {
    Value map = object(
        {{"name", entry.name}, {"summary", entry.summary}, {"source", text_or_null(entry.source)}});
    if (!entry.details.empty()) map.set("details", json_text(entry.details));
    if (!entry.example.empty()) map.set("example", json_text(entry.example));
    if (!entry.file.empty()) map.set("file", json_text(entry.file));
    if (!entry.unit.empty()) map.set("unit", json_text(entry.unit));
    if (entry.parameters) map.set("parameters", list_of(*entry.parameters, json_field));
    if (!entry.figures.empty())
      map.set("figures", list_of(entry.figures, [](const Figure& figure) {
                return object({{"name", figure.name},
                               {"value", figure.value},
                               {"note", text_or_null(figure.note)}});
              }));
    return map;
  });
}

}  // namespace sluice
