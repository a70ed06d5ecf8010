// What `sluice run` answers, for people and as JSON.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "command/inputs.hpp"
#include "run/run.hpp"
#include "study/answer/note.hpp"
#include "study/answer/refusal.hpp"

namespace sluice {

struct Report {
  const Question& question;
  const Plan& plan;
  const RunResult& result;
  std::string trace_path;  ///< empty: none
  std::vector<Told> notes = {};
};

/// format sluice-result/1; the keys are described in the help of `sluice run`.
std::string report_json(const Report& report);
/// The same of a question that is infeasible: status, and `infeasible` with what is lacking.
std::string infeasible_json(const Question& question, const Infeasible& infeasible,
                            const std::optional<Refusal>& refusal);
/// The answer first, then two columns.
std::string report_text(const Report& report);

using Rows = std::vector<std::pair<std::string, std::string>>;
/// What the policy decided.
void add_facts(Rows& rows, const Report& report);

}  // namespace sluice
