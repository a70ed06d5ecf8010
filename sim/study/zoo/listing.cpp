#include "study/zoo/listing.hpp"

#include <filesystem>

#include "base/suggest.hpp"
#include "document/load.hpp"
#include "fates/strategy.hpp"
#include "metrics/metric.hpp"
#include "model/catalog.hpp"
#include "policy/policy.hpp"
#include "stage/stage.hpp"
#include "study/json.hpp"
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

Value listing_json(const std::vector<Listed>& entries) {
  Value list = Value::make_list();
  for (const Listed& entry : entries) {
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
  return list;
}

}  // namespace sluice
