// Random small scenarios with open choices, and explicit settings of these choices. A seed gives the same scenarios on
// every machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/random_chain.hpp"
#include "support/small_case.hpp"

namespace sluice::test {

struct RandomCase {
  std::vector<Row> rows;
  std::int64_t input = 0;
  std::string policy;  ///< the policy's name; for data_parallel, also the replica's policy
  bool training = false;
  std::int64_t batches = 1;  ///< the number of batches of a step
  std::string workload;      ///< YAML
  std::string cut, fates;    ///< YAML; empty if the choice is open
  std::string keys;          ///< the keys of the policy after its name
  std::vector<std::string> machine;
  std::int64_t all_bytes = 0;  ///< more bytes than any plan of this case needs on one device

  std::string text() const { return text_with(cut, fates, ""); }
  /// Returns the scenario with this cut and these fates. `own_keys` has more keys of the policy as ", key: value".
  std::string text_with(const std::string& own_cut, const std::string& own_fates,
                        const std::string& own_keys) const;
};

/// Returns the policies that a case may have. After the name data_parallel, the text names the replicated policy.
const std::vector<std::string>& policies_with_choices();

/// Returns a case with this policy. If `training` is set, the policy must be able to train.
RandomCase random_case(Dice& dice, const std::string& policy, bool training);

/// Returns settings of all open choices of the case, as YAML.
std::string random_settings(Dice& dice, const RandomCase& open);

/// Returns the plan of a case on devices that have `bytes` bytes of memory each, with these overrides. Returns nullopt
/// if the case does not fit.
std::optional<Plan> plan_within(const RandomCase& random, const std::string& text,
                                std::int64_t bytes, const std::vector<std::string>& further = {});

}  // namespace sluice::test
