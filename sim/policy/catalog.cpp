#include <algorithm>
#include <atomic>
#include <mutex>

#include "policy/policy.hpp"

namespace sluice {

// Those that are compiled in.
// clang-format off
static const Catalog<Policy>& compiled_in() {
  static const Catalog<Policy> catalog("policy", {
      SLUICE_ENTRY(Policy, resident_policy),
      SLUICE_ENTRY(Policy, streamed_policy),
      SLUICE_ENTRY(Policy, phased_policy),
      SLUICE_ENTRY(Policy, sharded_policy),
      SLUICE_ENTRY(Policy, data_parallel_policy),
  });
  return catalog;
}
// clang-format on

namespace {

/// The catalog of the moment. An older one, and a policy that was replaced, are never freed: a plan
/// may be in the making with them.
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
    throw InputError("'" + policy.name + "' is a policy of Sluice; give yours another name");
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
                .open = policy.open};
  record.fields.insert(record.fields.begin(), {.name = "name",
                                               .type = Type::choice,
                                               .summary = "the policy",
                                               .choices = policy_catalog().names()});
  return record;
}

}  // namespace sluice
