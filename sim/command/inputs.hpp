// What commands read: a scenario or a plan, from a file or by its name in the zoo.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command/command.hpp"
#include "plan/plan.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

/// A scenario, or a plan that is to be executed as it stands.
struct Question {
  std::string path;
  std::optional<Scenario> scenario;  ///< none: the file is a plan
  std::optional<Plan> plan;
  CutModel cut;  ///< of the scenario, once plan_of() was called
};

/// Reads the command's one positional with its overrides. A plan takes none: UsageError.
Question read_question(const Arguments& arguments);

/// What a study varies: the document of a scenario as it stands, before includes and changes.
struct ScenarioDocument {
  Value value;
  std::string path;  ///< files that it names are relative to its folder
};

/// Of a file, of a name in the zoo, or of standard input: `-`. Throws UsageError where it is a
/// plan, InputError.
ScenarioDocument read_scenario_document(const std::string& given);

/// The plan: as read, or made from the scenario, whose cut is then known, too. Throws Infeasible,
/// InputError.
Plan plan_of(Question& question);

/// Where an error of the whole question belongs: the plan's file; of a scenario the line of its
/// workload, which says how much is asked.
Position place_of(const Question& question);

/// Runs `action` on the question's plan: an error that has no position of its own, such as one of
/// the plan's check, is placed.
template <class Action>
decltype(auto) in_plan_file(const Question& question, Action&& action) {
  try {
    return action();
  } catch (const InputError& error) {
    if (error.has_position()) throw;
    throw InputError(place_of(question), error.what());
  }
}

/// Throws UsageError when `output` is one of the files that the question was read from.
void refuse_to_overwrite(const Question& question, const std::string& output);

}  // namespace sluice
