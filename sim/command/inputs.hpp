// Reads the input of a command: a scenario or a plan. The input is a file, standard input, or a
// bundled scenario.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command/command.hpp"
#include "plan/plan.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

/// The question of a scenario, or a plan that is executed without changes.
struct Question {
  std::string path;
  std::optional<Scenario> scenario;  ///< the scenario; absent if the input is a plan
  std::optional<Plan> plan;
  CutModel cut;  ///< the cut of the scenario's model, which plan_of() sets
};

/// Reads the document that the only positional of the command names, and applies the overrides. Throws UsageError if a
/// plan has overrides.
Question read_question(const Arguments& arguments);

/// The document that a study varies. This is the scenario as it is written: nothing is included or changed.
struct ScenarioDocument {
  Value value;
  /// Path of the document; files that the document names are relative to the folder of this path.
  std::string path;
};

/// Reads a scenario from a file, from the bundled scenario with the given name, or from standard input (`-`). Throws
/// UsageError if the input is a plan, and InputError if the input cannot be read.
ScenarioDocument read_scenario_document(const std::string& given);

/// Returns the plan that was read, or makes a plan from the scenario and sets the cut of `question`. Throws Infeasible
/// if no plan fits, and InputError if the scenario is wrong.
Plan plan_of(Question& question);

/// Returns the position for an error that concerns the whole input. For a plan, this position is the file. For a
/// scenario, this position is the line of the workload, because the workload says how much is computed.
Position place_of(const Question& question);

/// Calls `action`, which works on the plan of the question. An error without a position, such as an error from checking
/// the plan, gets the position of the question.
template <class Action>
decltype(auto) in_plan_file(const Question& question, Action&& action) {
  try {
    return action();
  } catch (const InputError& error) {
    if (error.has_position()) throw;
    throw InputError(place_of(question), error.what());
  }
}

/// Throws UsageError if `output` is one of the files from which the question was read.
void refuse_to_overwrite(const Question& question, const std::string& output);

}  // namespace sluice
