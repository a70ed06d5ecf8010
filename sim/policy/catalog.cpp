#include "policy/policy.hpp"

namespace sluice {

const Catalog<Policy>& policy_catalog() {
  static const Catalog<Policy> catalog("policy", {
                                                     SLUICE_ENTRY(Policy, resident_policy),
                                                     SLUICE_ENTRY(Policy, streamed_policy),
                                                 });
  return catalog;
}

}  // namespace sluice
