#include "scenario/schema_rules.hpp"

#include <algorithm>

#include "cost/cost.hpp"
#include "fates/strategy.hpp"
#include "platform/platform.hpp"
#include "platform/schema_rules.hpp"
#include "policy/policy.hpp"
#include "stage/stage.hpp"

namespace sluice {
namespace {

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
    const auto same = [&](const Field& other) { return other.name == field.name; };
    if (std::any_of(record.fields.begin(), record.fields.end(), same)) continue;
    if (as_they_are)
      record.fields.push_back(field);
    else
      record.fields.push_back(Field::any(field.name, "").or_absent());
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
  const Field word = {.name = key, .type = Type::choice, .choices = {"auto"}};
  variants.push_back({{{key, "auto"}}, {.name = key, .summary = "", .fields = {word}}});
  return variants;
}

}  // namespace

SchemaRules scenario_schema_rules() {
  return {.variants = {{"policy", policy_variants()},
                       {"stages", with_auto(variants_of(cut_catalog(), "cut"), "cut")},
                       {"fates", with_auto(variants_of(fate_catalog(), "strategy"), "strategy")},
                       {"cost", variants_of(cost_catalog(), "model")}},
          .further_key = platform_schema_rules().further_key,
          .included = {{"platform", platform_record()}}};
}

}  // namespace sluice
