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

/// The input of a command: a scenario, or a plan that is executed without changes.
struct Question {
  std::string path;
  std::optional<Scenario> scenario;  ///< the scenario; absent if the input is a plan
  std::optional<Plan> plan;
  CutModel cut;  ///< the cut of the scenario's model, which plan_of() sets
};

/// Reads the document that the command line names, and applies the overrides. Throws UsageError if a plan has
/// overrides.
Question read_question(const Arguments& arguments);

/// The scenario whose values `sluice sweep` or `sluice search` changes from run to run. This is the scenario as it is
/// written: no override is applied, and the documents that it names are not read.
struct ScenarioDocument {
  Value value;
  /// The path of the document. Files named by the document are relative to the folder of this path.
  std::string path;
};

/// Reads a scenario. `given` is a file, the name of a bundled scenario, or `-` for standard input. If the input is a
/// plan, throws UsageError. If it cannot be read, throws InputError.
ScenarioDocument read_scenario_document(const std::string& given);

/// If the input is a plan, returns this plan. Otherwise makes a plan from the scenario, and sets the cut of `question`.
/// If no plan fits, throws Infeasible. If the scenario is wrong, throws InputError.
Plan plan_of(Question& question);

/// Returns the position for an error that concerns the whole input. For a plan, this is the file. For a scenario, this
/// is the line of the workload, which says how much is computed.
Position place_of(const Question& question);

/// Calls `action`, which works on the plan of the question. If `action` throws an error without a position, the error
/// gets the position of the question. For example, the check of a plan throws such errors.
template <class Action>
decltype(auto) in_plan_file(const Question& question, Action&& action) {
  try {
    return action();
  } catch (const InputError& error) {
    if (error.has_position()) throw;
    throw InputError(place_of(question), error.what());
  }
}

/// Throws UsageError if `output` is one of the input files of the question.
void refuse_to_overwrite(const Question& question, const std::string& output);

}  // namespace sluice
