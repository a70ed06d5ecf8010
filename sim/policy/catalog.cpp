#include "policy/policy.hpp"

namespace sluice {

extern const Policy resident_policy;
extern const Policy streamed_policy;

const Catalog<Policy>& policy_catalog() {
  static const Catalog<Policy> catalog("policy", {
                                                     &resident_policy,
                                                     &streamed_policy,
                                                 });
  return catalog;
}

}  // namespace sluice
