// Turns a plan into a result. The plan is checked, executed and measured, and the trace is written.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.hpp"
#include "run/executor.hpp"
#include "trace/header.hpp"
#include "trace/series.hpp"
#include "trace/span.hpp"
#include "trace/summary.hpp"

namespace sluice {

struct RunRequest {
  const Plan& plan;
  std::string trace_path = {};  ///< path of the trace; if empty, no trace is written
  /// The resolved scenario, which the trace stores. Empty if the run is that of a plan.
  std::string scenario_text = {};
  std::string command_line = {};  ///< for the trace's provenance
  /// Called from time to time with the number of executed actions and the number of all actions.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
  Executor executor = Executor::automatic;
  /// The bound of the scenario's question. Empty if the run does not come from a scenario.
  std::optional<double> question_bound_s = {};
  /// Returns the parts of the answer besides its numbers, as JSON, for the trace. It is called when the run is
  /// complete, and only if a trace is written.
  std::function<std::string(const Summary& summary)> answer = {};
  Sink* also = nullptr;  ///< another receiver of every span and memory event
};

struct RunResult {
  Summary summary;
  Executor executor = Executor::simgrid;  ///< the executor that ran
  std::string content_sha256 = {};  ///< content hash of the trace; empty if no trace is written
  SeriesTable series = {};          ///< filled only if a trace is written, or if `also` is set
};

/// Returns the header of the trace of this run.
TraceHeader header_of(const RunRequest& request);

/// Throws InputError if the plan contradicts itself, and Infeasible if the plan does not fit or blocks. Throws IoError
/// if the trace cannot be written; this is found before the simulation starts. Throws Interrupted on a signal. The
/// trace then has status=aborted, and contains the actions that were executed.
RunResult run(const RunRequest& request);

}  // namespace sluice
