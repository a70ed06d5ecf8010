#include "scenario/schema_rules.hpp"

#include <algorithm>

#include "cost/cost.hpp"
#include "fates/strategy.hpp"
#include "policy/policy.hpp"
#include "stage/stage.hpp"

namespace sluice {
namespace {

using Variants = std::vector<SchemaVariant>;

/// Returns a record for an editor: the key that names the entry, then the keys of the entry itself.
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

/// A policy that replicates another policy also takes the keys of that policy.
Variants policy_variants() {
  Variants variants;
  for (const Policy* policy : policy_catalog().entries()) {
    if (!policy->replicates) {
      variants.push_back({{{"name", policy->name}}, closed(*policy)});
      continue;
    }
    for (const Policy* replica : policy_catalog().entries()) {
      if (!replica->replicable) continue;
      Record both = closed(*policy);
      for (const Field& field : replica->parameters) {
        const auto same = [&](const Field& other) { return other.name == field.name; };
        if (std::none_of(both.fields.begin(), both.fields.end(), same))
          both.fields.push_back(field);
      }
      variants.push_back({{{"name", policy->name}, {"replica", replica->name}}, std::move(both)});
    }
  }
  return variants;
}

/// The word `auto` leaves the choice open, so it excludes all keys next to it.
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
                       {"cost", variants_of(cost_catalog(), "model")}}};
}

}  // namespace sluice
