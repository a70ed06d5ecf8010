// What commands read: a scenario or a plan, from a file or by the name of a bundled one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command/command.hpp"
#include "plan/plan.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

/// A scenario, or a plan that is to be executed as it is.
struct Question {
  std::string path;
  std::optional<Scenario> scenario;  ///< none: the file is a plan
  std::optional<Plan> plan;
  CutModel cut;  ///< of the scenario, after plan_of() was called
};

/// Reads the only positional of the command, with its overrides. A plan takes no overrides:
/// UsageError.
Question read_question(const Arguments& arguments);

/// What a study varies: the document of a scenario as written, before includes and changes.
struct ScenarioDocument {
  Value value;
  std::string path;  ///< files that it names are relative to the folder of this path
};

/// Reads it from a file, from the bundled scenario of that name, or from standard input (`-`).
/// Throws UsageError where it is a plan, and InputError.
ScenarioDocument read_scenario_document(const std::string& given);

/// The plan, as read or made from the scenario; for a scenario the cut is then known, too. Throws
/// Infeasible, InputError.
Plan plan_of(Question& question);

/// The position for an error of the whole question: the file of a plan, or in a scenario the line
/// of its workload, which says how much is asked for.
Position place_of(const Question& question);

/// Runs `action` on the plan of the question. An error without a position of its own, such as one
/// from checking the plan, gets the position of the question.
template <class Action>
decltype(auto) in_plan_file(const Question& question, Action&& action) {
  try {
    return action();
  } catch (const InputError& error) {
    if (error.has_position()) throw;
    throw InputError(place_of(question), error.what());
  }
}

/// Throws UsageError when `output` is one of the files from which the question was read.
void refuse_to_overwrite(const Question& question, const std::string& output);

}  // namespace sluice
