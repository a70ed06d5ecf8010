#include "policy/policy.hpp"

namespace sluice {

const Catalog<Policy>& policy_catalog() {
  static const Catalog<Policy> catalog("policy", {
                                                     SLUICE_ENTRY(Policy, resident_policy),
                                                     SLUICE_ENTRY(Policy, streamed_policy),
                                                     SLUICE_ENTRY(Policy, phased_policy),
                                                     SLUICE_ENTRY(Policy, sharded_policy),
                                                     SLUICE_ENTRY(Policy, data_parallel_policy),
                                                 });
  return catalog;
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
