// From a plan to a result: checks it, executes it, measures it, writes the trace.
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
  std::string trace_path = {};     ///< where the trace goes; empty: none is written
  std::string scenario_text = {};  ///< the resolved scenario, stored in the trace; empty for a plan
  std::string command_line = {};   ///< for the trace's provenance
  /// Called now and then with the number of executed actions and of all actions.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
  Executor executor = Executor::automatic;
  std::optional<double> question_bound_s = {};  ///< of the scenario; none: there is no question
  /// What is said of the run beside its numbers, as JSON: the trace keeps it. Called where one is
  /// written, when the run is complete.
  std::function<std::string(const Summary& summary)> answer = {};
  Sink* also = nullptr;  ///< receives every span and memory event, too
};

struct RunResult {
  Summary summary;
  Executor executor = Executor::simgrid;  ///< who ran
  std::string content_sha256 = {};        ///< of the trace; empty where none is written
  SeriesTable series = {};                ///< where a trace is written, or someone listens
};

/// What the trace of this run says of itself.
TraceHeader header_of(const RunRequest& request);

/// Throws InputError (the plan contradicts itself), Infeasible, IoError (the trace cannot be
/// written: found before anything is simulated), Interrupted (the trace then has status=aborted and
/// holds what was executed).
RunResult run(const RunRequest& request);

}  // namespace sluice
