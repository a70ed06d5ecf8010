// The answer of `sluice run`, for people and as JSON.
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
  std::string trace_path;  ///< empty: none was written
  std::vector<GivenNote> notes = {};
};

/// Format sluice-result/1; the help of `sluice run` describes the keys.
std::string report_json(const Report& report);
/// The same for an infeasible question: the status, and `infeasible` with what is lacking.
std::string infeasible_json(const Question& question, const Infeasible& infeasible,
                            const std::optional<Refusal>& refusal);
/// The answer first, then two columns with details.
std::string report_text(const Report& report);

using Rows = std::vector<std::pair<std::string, std::string>>;
/// Where the computation's time and energy went, by class of operators. In text only where energy
/// is more than seconds x watts; in JSON always, and by layer, too. Null where the question is a
/// plan.
void add_operators(Rows& rows, const Report& report);
Value operators_value(const Report& report);
/// Adds what the policy decided.
void add_facts(Rows& rows, const Report& report);

}  // namespace sluice
