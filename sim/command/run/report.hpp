// Makes the answer of `sluice run` for people and as JSON.
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
  std::string trace_path;  ///< the file of the trace; empty if no trace was written
  std::vector<GivenNote> notes = {};
};

/// Returns the answer in the format sluice-result/1. The help of `sluice run` describes its keys.
std::string report_json(const Report& report);
/// Returns the answer to an infeasible question in the same format. The answer has the status, and
/// the key `infeasible`, which says why no plan fits.
std::string infeasible_json(const Question& question, const Infeasible& infeasible,
                            const std::optional<Refusal>& refusal);
/// Returns a line that says whether the plan fits, and below it two columns with details.
std::string report_text(const Report& report);

using Rows = std::vector<std::pair<std::string, std::string>>;
/// The next two functions give the time and energy of each class of operators. If the energy equals seconds x watts,
/// add_operators() adds no rows. The JSON of operators_value() also has each layer. For a plan file, there are no rows,
/// and the JSON is null.
void add_operators(Rows& rows, const Report& report);
Value operators_value(const Report& report);
/// Adds rows with the decisions of the policy.
void add_facts(Rows& rows, const Report& report);

}  // namespace sluice
