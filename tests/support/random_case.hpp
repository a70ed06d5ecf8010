// Random small scenarios that leave choices open, and random settings of these choices. A seed gives the same scenarios
// on every machine.
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
  /// The policy's name. For data_parallel, also the replica's policy, and perhaps `on_unlike_devices`.
  std::string policy;
  bool training = false;
  std::int64_t batches = 1;  ///< the number of batches of a step
  std::string workload;      ///< YAML
  std::string cut, fates;    ///< YAML; empty if the choice is open
  std::string keys;          ///< the keys of the policy, with its name
  std::vector<std::string> machine;
  /// On unlike devices: the capacity of the device `b`, as a multiple of the capacity of the device `gpu`.
  std::optional<double> memory_of_b;
  std::int64_t all_bytes = 0;  ///< more bytes than any plan of this case needs on one device

  std::string text() const { return text_with(cut, fates, ""); }
  /// Returns the scenario's text with this cut and these fates. `own_keys` is ", key: value" for each further key of
  /// the policy.
  std::string text_with(const std::string& own_cut, const std::string& own_fates,
                        const std::string& own_keys) const;
};

/// Follows the name of a policy: its two devices, `gpu` and `b`, have different rates and memories.
inline const std::string on_unlike_devices = " on unlike devices";

/// Returns the policies that a case may have. Each text is the name of a policy. After the name data_parallel, the text
/// also names the policy of the replicas. Texts with `on_unlike_devices` are not among them.
const std::vector<std::string>& policies_with_choices();

/// Returns a random case with this policy, which may end with `on_unlike_devices`. If `training` is true, the case
/// trains. The policy must then be able to train. The network has at most `most_layers` layers, by default 5 in
/// training and 7 in inference.
RandomCase random_case(Dice& dice, const std::string& policy, bool training,
                       std::optional<int> most_layers = {});

/// Returns a random setting for each choice that the case leaves open, as YAML.
std::string random_settings(Dice& dice, const RandomCase& open);

/// Returns the plan of the scenario `text` on devices that have `bytes` bytes of memory each, or
/// RandomCase::memory_of_b times as many on the device `b`. `further` has further overrides. Returns nullopt if the case
/// does not fit.
std::optional<Plan> plan_within(const RandomCase& random, const std::string& text,
                                std::int64_t bytes, const std::vector<std::string>& further = {});

}  // namespace sluice::test
