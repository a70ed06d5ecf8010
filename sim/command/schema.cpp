// The command `sluice schema` prints JSON Schemas for text editors. The schemas are made from the records that
// describe the keys of each kind of document.
#include "document/schema.hpp"
#include "document/key.hpp"

#include "cost/cost.hpp"
#include "fates/strategy.hpp"
#include "model/catalog.hpp"
#include "platform/device_memories.hpp"
#include "platform/platform.hpp"
#include "policy/policy.hpp"
#include "scenario/scenario.hpp"
#include "stage/stage.hpp"

#include "command/command.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

std::vector<SchemaVariant> layer_variants() {
  std::vector<SchemaVariant> variants;
  for (const LayerType* type : layer_catalog().entries()) {
    SchemaVariant variant = {{{"type", type->name}}, layer_record(*type)};
    for (const Field& field : type->parameters) variant.with_expressions.push_back(field.name);
    variants.push_back(std::move(variant));
  }
  variants.push_back({{{"repeat", ""}}, repeat_record(), {"repeat"}});
  variants.push_back({{{"block", ""}}, block_use_record()});
  return variants;
}

/// Returns rules that the record of a model cannot express. They say which keys a layer of each type, a repetition, and
/// a use of a block may have.
SchemaRules model_schema_rules() {
  return {.may_have_base = true,
          .shared = {{"layer", {.variants = layer_variants()}},
                     {declaration_record().name, {.alone = "default"}}}};
}

/// Returns rules that the record of a platform cannot express. A platform may have another platform as its base, and
/// then gives only the keys that differ. Every memory of a device except the first needs a name.
SchemaRules platform_schema_rules() {
  return {.may_have_base = true, .further_key = {{device_memory_record().name, "name"}}};
}

using Variants = std::vector<SchemaVariant>;

/// Returns the record of an entry, and forbids all keys that are not in the record. So a text editor marks mistyped
/// keys.
template <class Entry>
Record closed(const Entry& entry) {
  Record record = record_of(entry);
  record.open = false;
  return record;
}

template <class Entry>
Variants variants_of(const Catalog<Entry>& catalog, const std::string& key) {
  Variants variants;
  for (const Entry* entry : catalog.entries())
    variants.push_back({{{key, entry->name}}, closed(*entry)});
  return variants;
}

/// Adds the fields `others` to `record`, except for fields whose names `record` already has. If `as_they_are` is false,
/// the added fields accept any value.
void add_fields(Record& record, const std::vector<Field>& others, bool as_they_are) {
  for (const Field& field : others) {
    if (find_field(record.fields, field.name)) continue;
    if (as_they_are)
      record.fields.push_back(field);
    else
      record.fields.push_back(Key::any(field.name, "").or_absent());
  }
}

/// Returns the variants of the mapping `policy`. A variant says which keys the mapping may have if it names a certain
/// policy. A policy with replicas also takes the keys of the policy that `replica` names. So such a policy has several
/// variants. The first of them applies to every value of `replica`, even to a missing or misspelt value. This variant
/// checks only the names of the keys. Each further variant applies to one value of `replica`, and also checks the
/// values of the keys.
Variants policy_variants() {
  Variants variants;
  for (const Policy* policy : policy_catalog().entries()) {
    if (!policy->replicates) {
      variants.push_back({{{"name", policy->name}}, closed(*policy)});
      continue;
    }
    Record any = closed(*policy);
    std::vector<SchemaVariant> replicated;
    for (const Policy* replica : policy_catalog().entries()) {
      if (!replica->replicable) continue;
      add_fields(any, replica->parameters, /*as_they_are=*/false);
      Record both = closed(*policy);
      add_fields(both, replica->parameters, /*as_they_are=*/true);
      replicated.push_back({{{"name", policy->name}, {"replica", replica->name}}, std::move(both)});
    }
    variants.push_back({{{"name", policy->name}}, std::move(any)});
    variants.insert(variants.end(), replicated.begin(), replicated.end());
  }
  return variants;
}

/// Adds a variant for the value `auto` of `key`. This value leaves the choice open, so the variant allows no other key.
Variants with_auto(Variants variants, const std::string& key) {
  const Field word = Key::choice(key, {"auto"}, "");
  variants.push_back({{{key, "auto"}}, {.name = key, .summary = "", .fields = {word}}});
  return variants;
}

/// Returns rules that the record of a scenario cannot express. They say which keys may stand next to the name of a
/// policy, a cut, a strategy for fates or a cost model.
SchemaRules scenario_schema_rules() {
  return {.variants = {{"policy", policy_variants()},
                       {"stages", with_auto(variants_of(cut_catalog(), "cut"), "cut")},
                       {"fates", with_auto(variants_of(fate_catalog(), "strategy"), "strategy")},
                       {"cost", variants_of(cost_catalog(), "model")}},
          .further_key = platform_schema_rules().further_key,
          .included = {{"platform", platform_record()}}};
}

int run_schema(const Arguments& arguments) {
  const std::string& kind = arguments.positionals.front();
  const std::vector<std::string> kinds = {"scenario", "platform", "model"};
  if (kind == "scenario")
    print(json_schema(scenario_record(), "A Sluice scenario", kind, scenario_schema_rules()));
  else if (kind == "platform")
    print(json_schema(platform_record(), "A Sluice platform", kind, platform_schema_rules()));
  else if (kind == "model")
    print(json_schema(model_record(), "A Sluice model", kind, model_schema_rules()));
  else
    throw UsageError("no schema of '" + kind + "'" + did_you_mean(kind, kinds) +
                     "; known: " + join(kinds));
  return 0;
}

}  // namespace

extern const Command schema_command = {
    .name = "schema",
    .summary = "Prints the JSON Schema of a kind of document, for editors.",
    .usage = {"scenario|platform|model"},
    .least = 1,
    .most = 1,
    .positionals = "one of scenario, platform, model",
    .names =
        [] {
          return std::vector<std::string>{"scenario", "platform", "model"};
        },
    .details =
        "An editor with a YAML language server finds the schema by the first line of the\n"
        "document, such as\n"
        "  # yaml-language-server: $schema=../schemas/scenario.schema.json\n",
    .examples = {{"sluice schema scenario > schemas/scenario.schema.json",
                  "writes one of the files in schemas/"}},
    .run = run_schema,
};

}  // namespace sluice
