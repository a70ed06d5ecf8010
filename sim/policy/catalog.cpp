// The list of the compiled-in policies. To add a policy, add its file to this folder and a line to
// this list.
#include "policy/compiled_in.hpp"

namespace sluice {

// clang-format off
std::vector<const Policy*> compiled_in_policies() {
  return {
      SLUICE_ENTRY(Policy, basic_policy),
      SLUICE_ENTRY(Policy, resident_policy),
      SLUICE_ENTRY(Policy, streamed_policy),
      SLUICE_ENTRY(Policy, phased_policy),
      SLUICE_ENTRY(Policy, sharded_policy),
      SLUICE_ENTRY(Policy, data_parallel_policy),
  };
}
// clang-format on

}  // namespace sluice
