// States the question of a scenario in one line and as a document: model, platform, workload, policy and cost. Also
// states how certain the answer is: which share of its seconds comes from measurements, which from figures with a
// source, and which from assumed figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cost/account.hpp"
#include "document/value.hpp"
#include "scenario/scenario.hpp"
#include "trace/summary.hpp"

namespace sluice {

/// Returns the question as text. Example: "llama2_7b (tokens=1, cached=2047) on rx7900xtx_pcie4, inference in float16,
/// batch 32, policy resident, cost roofline at 70 % of 122.8 TFLOP/s and 70 % of 960 GB/s".
std::string asked_text(const Scenario& scenario);
/// Returns the parts of asked_text() as a mapping.
Value asked_value(const Scenario& scenario);

/// A run computes and moves data. The seconds of this work come from figures, such as rates. The shares `measured`,
/// `sourced` and `assumed` say which part of these seconds comes from figures of which origin. If the run does any
/// work, the shares add up to 1.
struct Certainty {
  double measured = 0;  ///< share that comes from measurements of the layers
  double sourced = 0;   ///< share that comes from fits, and from figures with a source
  /// The share that comes from figures without a source: from overrides, from the assumed ratio of backward to forward
  /// seconds (`workload.backward`), and from figures that the platform marks as assumed.
  double assumed = 0;
  /// The paths of the assumed figures on which the seconds of this run depend, such as "devices.gpu.roofline".
  std::vector<std::string> figures;
  /// How certain the seconds of computation are, if the cost model is `fitted` or `measured`.
  std::optional<Account> account;
};
/// Returns the account (cost/account.hpp) of the model's prices on the platform's first device.
Account account_of(const Scenario& scenario);
Certainty certainty_of(const Scenario& scenario, const Summary& summary);

/// Returns text such as "0 % measured, 34 % on sourced figures, 66 % on assumed ones (devices.gpu.roofline)".
std::string certainty_text(const Certainty& certainty);

}  // namespace sluice
