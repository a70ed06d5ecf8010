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
  /// The text of the resolved scenario, which the trace stores; empty if the input of the run is a plan file.
  std::string scenario_text = {};
  std::string command_line = {};  ///< the command line that the trace stores
  /// A function that the run calls from time to time with the number of executed actions and the number of all actions.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
  Executor executor = Executor::automatic;
  /// The bound of the scenario's question, in seconds; empty if the input of the run is a plan file.
  std::optional<double> question_bound_s = {};
  /// A function that returns, as JSON for the trace, the parts of the answer that are not metrics. The run calls this
  /// function once, at the end of the run, and only if a trace is written.
  std::function<std::string(const Summary& summary)> answer = {};
  Sink* also = nullptr;  ///< a listener that also receives every span and memory event; may be null
};

struct RunResult {
  Summary summary;
  Executor executor = Executor::simgrid;  ///< the executor that executed the plan
  std::string content_sha256 = {};  ///< content hash of the trace; empty if no trace is written
  /// The table is filled only if a trace is written, or if the request has a listener `also`.
  SeriesTable series = {};
};

/// Returns the header of the trace of this run.
TraceHeader header_of(const RunRequest& request);

/// Runs the plan. Throws InputError if the plan contradicts itself, and Infeasible if the plan does not fit into memory
/// or blocks. Throws IoError if the trace cannot be written; such an error is detected before the simulation starts.
/// Throws Interrupted on a signal; then the trace has status=aborted and the actions that were executed.
RunResult run(const RunRequest& request);

}  // namespace sluice
