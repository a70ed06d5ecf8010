// A scenario joins a model, a platform, a workload, a cut and a policy. A scenario is read from one document.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planning/price_again.hpp"
#include "policy/policy.hpp"

namespace sluice {

struct Scenario {
  std::string name;      ///< the name of the file, without folder and extension
  std::string question;  ///< may be empty
  /// The document after includes and overrides. Each value knows its file and line.
  Value document;
  Model model;
  Platform platform;
  Workload workload;
  ChosenCost cost;
  Chosen<Policy> policy;
  const Policy* acting = nullptr;  ///< the policy, or the policy that it replicates
  /// The cut. If there is no value, Sluice chooses the cut. `phases: {after: ...}` also sets the cut.
  std::optional<Chosen<Cut>> cut;
  std::optional<Chosen<FateStrategy>> fates;  ///< if there is no value, Sluice chooses the fates
  std::optional<Keys> phases;
  bool capacity_enforced = true;
  bool working_set_counted = true;

  /// Returns the document as YAML text. An equal scenario can be read from this text without any other file.
  std::string text() const;
};

/// Reads a scenario from a document with includes and overrides already applied. Throws InputError with positions.
Scenario read_scenario(Value document, const std::string& name);

/// Loads a sluice-scenario/1 file with `KEY=VALUE` overrides.
Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides);

/// Makes a scenario from a document in memory. The document counts as the file at `path`.
Scenario scenario_from(Value document, const std::string& path,
                       const std::vector<std::string>& overrides);

/// Returns the scenario `base` with overrides that change only the platform and the costs. `base` was read from the
/// file `path`. Only the platform and the costs are read again.
Scenario with_other_prices(const Scenario& base, const std::string& path,
                           const std::vector<std::string>& overrides);

/// Cuts the model and lets the policy plan. If the scenario leaves choices open, candidates are simulated, and the
/// fastest candidate is taken. Throws InputError, Infeasible.
Plan make_plan(const Scenario& scenario);

/// The stages of a cut model. If layers had to be split, this object also holds the model with the split layers.
struct CutModel {
  std::optional<Model> split;
  std::vector<Stage> stages;
  /// The cut as a text such as "cut: by_weight, groups: 12". If the scenario says how to cut, the text is empty.
  std::string text;
};
/// Returns all cuts that may be chosen. If the scenario says how to cut, there is one element.
std::vector<CutModel> cut_models(const Scenario& scenario);
/// A plan, and the cut with which it was made.
struct PlannedScenario {
  Plan plan;
  CutModel cut;
  std::optional<Chosen<FateStrategy>> fates = {};
  /// Prices the plan again. The value is absent if the plan cannot be priced again.
  std::optional<PriceAgain> price_again = {};
};
PlannedScenario plan_scenario(const Scenario& scenario);

/// Returns whether both cuts have the same stages of the same layers.
bool same(const CutModel& a, const CutModel& b);
/// Returns the request to the policy. The request refers to `scenario` and `cut`. Both must outlive the request.
PolicyRequest request_of(const Scenario& scenario, const CutModel& cut,
                         const std::optional<Chosen<FateStrategy>>& fates);

/// Returns the cut of the plan. If the scenario leaves the cut open, the function makes the plan to find the cut.
CutModel cut_model(const Scenario& scenario);
std::vector<Stage> stages_of(const Scenario& scenario);

/// Reads the policy that a `policy:` mapping names. Throws InputError.
Chosen<Policy> choose_policy(const Value& policy);

/// Replaces the scenario's policy by another policy. Throws InputError if the new policy does not plan for the
/// scenario's workload, fates or phases.
void set_policy(Scenario& scenario, Value policy);

/// Returns the record of a scenario, from which the schema and the help are made.
const Record& scenario_record();

}  // namespace sluice
