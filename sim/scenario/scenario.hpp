// A scenario: the question. Model + platform + workload + cut + policy, read from one document.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planning/price_again.hpp"
#include "policy/policy.hpp"

namespace sluice {

struct Scenario {
  std::string name;      ///< the file's, without folder and ending
  std::string question;  ///< may be empty
  Value document;        ///< after includes and overrides, with where each value came from
  Model model;
  Platform platform;
  Workload workload;
  ChosenCost cost;
  Chosen<Policy> policy;
  const Policy* acting = nullptr;  ///< the policy, or the one that it replicates
  std::optional<Chosen<Cut>> cut;  ///< also of `phases: {after: ...}`; none: it is chosen
  std::optional<Chosen<FateStrategy>> fates;  ///< none: it is chosen
  std::optional<Keys> phases;
  bool capacity_enforced = true;
  bool working_set_counted = true;

  /// The document as YAML: reads back as the same scenario, without any other file.
  std::string text() const;
};

/// Reads a scenario after includes and overrides. Throws InputError with positions.
Scenario read_scenario(Value document, const std::string& name);

/// Loads a sluice-scenario/1 file with `KEY=VALUE` overrides.
Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides);

/// The same from a document that is at hand, as if it had been read from `path`.
Scenario scenario_from(Value document, const std::string& path,
                       const std::vector<std::string>& overrides);

/// The scenario `base`, read from a file at `path`, with overrides that change nothing but the
/// platform and the costs: only these are read anew.
Scenario with_other_prices(const Scenario& base, const std::string& path,
                           const std::vector<std::string>& overrides);

/// Cuts the model and lets the policy plan; what is left open is settled by simulated seconds.
/// Throws InputError, Infeasible.
Plan make_plan(const Scenario& scenario);

/// The stages, and the model that they are of where layers had to be split.
struct CutModel {
  std::optional<Model> split;
  std::vector<Stage> stages;
  std::string text;  ///< "cut: by_weight, groups: 12"; empty where the scenario says how
};
/// One where the scenario says how the model is cut; else the ways that may be chosen.
std::vector<CutModel> cut_models(const Scenario& scenario);
/// A plan, and the cut that it was made with.
struct PlannedScenario {
  Plan plan;
  CutModel cut;
  std::optional<Chosen<FateStrategy>> fates = {};
  std::optional<PriceAgain> again = {};  ///< how it is priced again; none: it cannot be
};
PlannedScenario plan_scenario(const Scenario& scenario);

/// The same stages, of the same layers?
bool same(const CutModel& a, const CutModel& b);
/// What the policy is asked for one cut and strategy for fates. It refers to both.
PolicyRequest request_of(const Scenario& scenario, const CutModel& cut,
                         const std::optional<Chosen<FateStrategy>>& fates);

/// The cut of the plan; where it is open, everything is planned to find it.
CutModel cut_model(const Scenario& scenario);
std::vector<Stage> stages_of(const Scenario& scenario);

/// The policy that a `policy:` mapping names. Throws InputError.
Chosen<Policy> choose_policy(const Value& policy);

/// Has the scenario another policy instead of its own. Throws InputError where it does not plan for
/// the scenario's workload, fates or phases.
void set_policy(Scenario& scenario, Value policy);

/// What a scenario may contain, for the schema and for help.
const Record& scenario_record();

}  // namespace sluice
