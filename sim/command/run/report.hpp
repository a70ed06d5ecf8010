// What `sluice run` answers, for people and as JSON.
#pragma once

#include <string>

#include "command/inputs.hpp"
#include "run/run.hpp"

namespace sluice {

struct Report {
  const Question& question;
  const Plan& plan;
  const RunResult& result;
  std::string trace_path;  ///< empty: none
};

/// format sluice-result/1; the keys are described in the help of `sluice run`.
std::string report_json(const Report& report);
/// The answer first, then two columns.
std::string report_text(const Report& report);

}  // namespace sluice
