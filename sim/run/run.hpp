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
  /// The text of the resolved scenario, which the trace stores. If the run was started with a plan file instead of a
  /// scenario, the text is empty.
  std::string scenario_text = {};
  std::string command_line = {};  ///< the command line that the trace stores
  /// The run calls this function from time to time, with the number of actions that have been executed and the number
  /// of all actions.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
  Executor executor = Executor::automatic;
  /// The bound of the scenario's question, in seconds. If the run was started with a plan file, there is no bound.
  std::optional<double> question_bound_s = {};
  /// Returns those parts of the answer that are not metrics, as JSON. If a trace is written, the run calls this
  /// function once, at the end of the run, and stores the JSON in the trace.
  std::function<std::string(const Summary& summary)> answer = {};
  Sink* also = nullptr;  ///< also receives every span and memory event; may be null
};

struct RunResult {
  Summary summary;
  Executor executor = Executor::simgrid;  ///< the executor that executed the plan
  std::string content_sha256 = {};  ///< content hash of the trace; empty if no trace is written
  /// If no trace is written and there is no sink `also`, this table is empty.
  SeriesTable series = {};
};

/// Returns the header of the trace of this run.
TraceHeader header_of(const RunRequest& request);

/// Runs the plan. Throws InputError if the plan contradicts itself. Throws Infeasible if the plan blocks, or does not
/// fit into memory. Throws IoError if the trace cannot be written. The trace file is created before the simulation, to
/// find such an error early. Throws Interrupted on a signal. The trace of an interrupted run has status=aborted and the
/// actions that were executed.
RunResult run(const RunRequest& request);

}  // namespace sluice
