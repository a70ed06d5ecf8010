#include "policy/policy.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "document/key.hpp"
#include "policy/compiled_in.hpp"

namespace sluice {

namespace {

/// Completes the record of a policy that replicates other policies: the names of all replicable policies become the
/// choices of its parameter `replica`.
Policy with_replicas(Policy policy, const std::vector<const Policy*>& all) {
  for (Field& field : policy.parameters) {
    if (field.name != "replica") continue;
    for (const Policy* other : all)
      if (other->replicable) field.choices.push_back(other->name);
  }
  return policy;
}

const Catalog<Policy>& compiled_in() {
  static const Catalog<Policy> catalog = [] {
    const std::vector<const Policy*> listed = compiled_in_policies();
    std::vector<const Policy*> entries = listed;
    // The copies that with_replicas() completes are never freed.
    for (const Policy*& entry : entries)
      if (entry->replicates) entry = new Policy(with_replicas(*entry, listed));
    return Catalog<Policy>("policy", std::move(entries));
  }();
  return catalog;
}

/// The present catalog. Older catalogs and replaced policies are never freed, because another thread may still use
/// them.
std::atomic<const Catalog<Policy>*>& current() {
  static std::atomic<const Catalog<Policy>*> catalog = &compiled_in();
  return catalog;
}

}  // namespace

const Catalog<Policy>& policy_catalog() {
  return *current().load();
}

void add_policy(Policy policy) {
  static std::mutex one_at_a_time;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  if (policy.name.empty()) throw InputError("a policy needs a name");
  if (compiled_in().find_or_null(policy.name))
    throw InputError("'" + policy.name +
                     "' is the name of a policy of Sluice; give your policy "
                     "another name");
  std::vector<const Policy*> entries = policy_catalog().entries();
  const auto* added = new Policy(std::move(policy));
  const auto same = [&](const Policy* entry) { return entry->name == added->name; };
  const auto replaced = std::find_if(entries.begin(), entries.end(), same);
  if (replaced == entries.end())
    entries.push_back(added);
  else
    *replaced = added;
  current().store(new Catalog<Policy>("policy", std::move(entries)));
}

Record record_of(const Policy& policy) {
  Record record{.name = "policy " + policy.name,
                .summary = policy.summary,
                .fields = policy.parameters,
                .open = policy.replicates};
  record.fields.insert(record.fields.begin(),
                       Key::choice("name", policy_catalog().names(), "the policy"));
  return record;
}

const Policy& acting_policy(const Policy& policy, const Reader& parameters) {
  return policy.replicates ? policy_catalog().find(parameters.text("replica")) : policy;
}

}  // namespace sluice
