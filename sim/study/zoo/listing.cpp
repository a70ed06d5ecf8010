#include "study/zoo/listing.hpp"

#include <filesystem>

#include "base/suggest.hpp"
#include "document/load.hpp"
#include "document/object.hpp"
#include "fates/strategy.hpp"
#include "metrics/metric.hpp"
#include "model/catalog.hpp"
#include "policy/policy.hpp"
#include "stage/stage.hpp"
#include "study/zoo/zoo.hpp"

namespace sluice {
namespace {

template <class Kind>
std::vector<Listed> entries_of(const Catalog<Kind>& catalog) {
  std::vector<Listed> entries;
  for (const Kind* kind : catalog.entries()) {
    Listed entry{kind->name, kind->summary, kind->source, {}, {}};
    if constexpr (requires { kind->parameters; }) entry.parameters = &kind->parameters;
    if constexpr (requires { kind->unit; }) entry.unit = kind->unit;
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// First what leaves the choice open, which is no entry of the catalog.
std::vector<Listed> with_auto(std::vector<Listed> entries, const std::string& summary) {
  entries.insert(entries.begin(), Listed{"auto", summary, "", {}, {}});
  return entries;
}

std::string text_at(const Value& document, const char* key) {
  const Value* value = document.find(key);
  return value != nullptr && value->is_scalar() ? value->text() : "";
}

/// A stage table in data-island form has no summary: it says what it is.
std::vector<Listed> documents_of(const std::string& folder) {
  std::vector<Listed> entries;
  for (const std::string& file : zoo_files(folder)) {
    const Value document = load_document(file);
    Listed entry;
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
  std::vector<Listed> (*entries)();
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> list = {
      {"policies", [] { return entries_of(policy_catalog()); }},
      {"layers", [] { return entries_of(layer_catalog()); }},
      {"costs", [] { return entries_of(cost_catalog()); }},
      {"cuts",
       [] {
         return with_auto(entries_of(cut_catalog()),
                          "The default: of the ways to cut that the policy compares, the one whose "
                          "plan takes the least time.");
       }},
      {"fates",
       [] {
         return with_auto(
             entries_of(fate_catalog()),
             "The default: in training, of the strategies that need nothing said of "
             "single stages, the one whose plan takes the least time; in inference, what "
             "the policy takes.");
       }},
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

}  // namespace

std::vector<Listed> listing(const std::string& wanted) {
  for (const Kind& kind : kinds())
    if (kind.name == wanted) return kind.entries();
  throw UsageError("nothing to list is called '" + wanted + "'" +
                   did_you_mean(wanted, kind_names()) + "; known: " + join(kind_names()));
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

/// A record's field: name, type, default, choices, help.
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

Value listing_json(const std::vector<Listed>& entries) {
  return list_of(entries, [](const Listed& entry) {
    Value map = object(
        {{"name", entry.name}, {"summary", entry.summary}, {"source", text_or_null(entry.source)}});
    if (!entry.file.empty()) map.set("file", json_text(entry.file));
    if (!entry.unit.empty()) map.set("unit", json_text(entry.unit));
    if (entry.parameters) map.set("parameters", list_of(*entry.parameters, json_field));
    return map;
  });
}

}  // namespace sluice
