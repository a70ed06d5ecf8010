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
  /// The document, with includes and overrides applied. Each value in it knows the file and the line from which it
  /// comes.
  Value document;
  Model model;
  Platform platform;
  Workload workload;
  ChosenCost cost;
  Chosen<Policy> policy;
  const Policy* acting = nullptr;  ///< the policy, or the policy that it replicates
  /// The cut that the scenario gives, under `stages:` or as `phases: {after: ...}`. If there is no value, Sluice
  /// chooses the cut.
  std::optional<Chosen<Cut>> cut;
  std::optional<Chosen<FateStrategy>> fates;  ///< if there is no value, Sluice chooses the fates
  std::optional<Keys> phases;
  bool capacity_enforced = true;
  bool working_set_counted = true;

  /// Returns the document as YAML text. This text includes the model and the platform: to read an equal scenario from
  /// it, no other document is needed.
  std::string text() const;
};

/// Reads a scenario from a document with includes and overrides already applied. Throws InputError with positions.
Scenario read_scenario(Value document, const std::string& name);

/// Loads a sluice-scenario/1 file with `KEY=VALUE` overrides.
Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides);

/// Makes a scenario from a document in memory. The document is treated as if it had been read from the file `path`.
Scenario scenario_from(Value document, const std::string& path,
                       const std::vector<std::string>& overrides);

/// Returns the scenario `base`, which was read from the file `path`, with overrides. The overrides must change only the
/// platform and the costs, because only the platform and the costs are read again.
Scenario with_other_prices(const Scenario& base, const std::string& path,
                           const std::vector<std::string>& overrides);

/// Cuts the model into stages, and makes the plan by the policy. If the scenario leaves choices open, candidates are
/// simulated, and the fastest candidate is taken. Throws InputError, Infeasible.
Plan make_plan(const Scenario& scenario);

/// The stages into which a model is cut. If layers had to be split into parts, `split` is the model that has these
/// parts as layers.
struct CutModel {
  std::optional<Model> split;
  std::vector<Stage> stages;
  /// How the model is cut, if the scenario leaves this open.
  std::optional<Chosen<Cut>> compared;
};
/// Returns all cuts that may be chosen. If the scenario says how to cut, the list has only this cut.
std::vector<CutModel> cut_models(const Scenario& scenario);
/// A plan, and the cut with which it was made.
struct PlannedScenario {
  Plan plan;
  CutModel cut;
  std::optional<Chosen<FateStrategy>> fates = {};
  /// The object that prices the plan again. If the plan cannot be priced again, there is no object.
  std::optional<PriceAgain> price_again = {};
};
PlannedScenario plan_scenario(const Scenario& scenario);

/// Returns true if the two cuts have the same stages, with the same names and the same layers.
bool same(const CutModel& a, const CutModel& b);
/// Returns the request with which the policy is asked for a plan. The request holds references to `scenario` and `cut`,
/// so these two must outlive it.
PolicyRequest request_of(const Scenario& scenario, const CutModel& cut,
                         const std::optional<Chosen<FateStrategy>>& fates);

/// Returns the cut of the scenario's plan. If the scenario leaves the cut open, the function must make the plan to find
/// its cut.
CutModel cut_model(const Scenario& scenario);
std::vector<Stage> stages_of(const Scenario& scenario);

/// Reads the policy that a `policy:` mapping names. Throws InputError.
Chosen<Policy> choose_policy(const Value& policy);

/// Replaces the scenario's policy by another policy. Throws InputError if the new policy does not plan for the
/// scenario's workload, fates or phases.
void set_policy(Scenario& scenario, Value policy);

/// Returns the record of a scenario. The schema and the help are made from this record.
const Record& scenario_record();

}  // namespace sluice
