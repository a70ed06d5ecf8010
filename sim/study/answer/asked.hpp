// What was asked (model, platform, workload, policy and cost, in one line and as a document), and
// how certain the answer is: how many of its seconds rest on measurements, on figures with a
// source, and on assumed figures.
#pragma once

#include <string>
#include <vector>

#include "document/value.hpp"
#include "scenario/scenario.hpp"
#include "trace/summary.hpp"

namespace sluice {

/// "llama2_7b (tokens=1, cached=2047) on rx7900xtx_pcie4, inference in float16, batch 32, policy
/// resident, cost roofline at 70 % of 122.8 TFLOP/s and 70 % of 960 GB/s".
std::string asked_text(const Scenario& scenario);
/// The same as a mapping.
Value asked_value(const Scenario& scenario);

/// Shares of the seconds of work in a run, computing and moving, by what they rest on. They add up
/// to 1 where there is any work.
struct Certainty {
  double measured = 0;  ///< on measurements of the layers themselves
  double sourced = 0;   ///< on the platform's figures that have a source
  double assumed = 0;   ///< on figures that the platform says are assumed, or that were overridden
  std::vector<std::string> figures;  ///< the assumed figures that play a part:
                                     ///< "devices.gpu.roofline"
};
Certainty certainty_of(const Scenario& scenario, const Summary& summary);

/// "0 % measured, 34 % on sourced figures, 66 % on assumed ones (devices.gpu.roofline)".
std::string certainty_text(const Certainty& certainty);

}  // namespace sluice
