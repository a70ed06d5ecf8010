// Turns a plan into a result: it checks, executes and measures the plan, and writes the trace.
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
  std::string trace_path = {};  ///< where the trace is written; empty: nowhere
  /// The resolved scenario, which the trace stores; empty for a plan.
  std::string scenario_text = {};
  std::string command_line = {};  ///< for the trace's provenance
  /// Is called from time to time with the number of executed actions and the number of all actions.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
  Executor executor = Executor::automatic;
  /// The bound of the scenario's question. It is empty if the run does not come from a scenario.
  std::optional<double> question_bound_s = {};
  /// Returns what the answer says besides its numbers, as JSON, for the trace. This is called when the run is complete,
  /// and only if a trace is written.
  std::function<std::string(const Summary& summary)> answer = {};
  Sink* also = nullptr;  ///< receives every span and memory event, too
};

struct RunResult {
  Summary summary;
  Executor executor = Executor::simgrid;  ///< the executor that ran
  std::string content_sha256 = {};        ///< content hash of the trace; empty if none is written
  SeriesTable series = {};                ///< filled only if a trace is written, or someone listens
};

/// Returns the header of the trace of this run.
TraceHeader header_of(const RunRequest& request);

/// Throws InputError if the plan contradicts itself, Infeasible if it does not fit or blocks, and IoError if the trace
/// cannot be written (this is found before the simulation starts). Throws Interrupted on a signal. The trace then has
/// status=aborted and holds what was executed.
RunResult run(const RunRequest& request);

}  // namespace sluice
