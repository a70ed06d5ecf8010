// States the question of a scenario in one line and as a document: model, platform, workload, policy and cost. Also
// states how certain the answer is. Shares of its seconds come from measurements, from figures with a source, and from
// assumed figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cost/account.hpp"
#include "document/value.hpp"
#include "scenario/scenario.hpp"
#include "trace/summary.hpp"

namespace sluice {

/// Returns text such as "llama2_7b (tokens=1, cached=2047) on rx7900xtx_pcie4, inference in float16, batch 32, policy
/// resident, cost roofline at 70 % of 122.8 TFLOP/s and 70 % of 960 GB/s".
std::string asked_text(const Scenario& scenario);
/// Returns the parts of asked_text() as a mapping.
Value asked_value(const Scenario& scenario);

/// A run computes and moves data. Figures give the seconds of this work. The shares say from where these figures come.
/// For a run with any work, the shares add up to 1.
struct Certainty {
  double measured = 0;  ///< share that comes from measurements of the layers
  double sourced = 0;   ///< share that comes from fits, and from figures with a source
  /// The share that comes from overridden figures, from assumed ratios, and from figures that the platform marks as
  /// assumed.
  double assumed = 0;
  /// The paths of the assumed figures that have an effect, such as "devices.gpu.roofline".
  std::vector<std::string> figures;
  /// The account of the computed seconds, if the cost model is `fitted` or `measured`.
  std::optional<Account> account;
};
/// Returns the account (cost/account.hpp) of the prices that the model has on the platform's first device.
Account account_of(const Scenario& scenario);
Certainty certainty_of(const Scenario& scenario, const Summary& summary);

/// Returns text such as "0 % measured, 34 % on sourced figures, 66 % on assumed ones (devices.gpu.roofline)".
std::string certainty_text(const Certainty& certainty);

}  // namespace sluice
