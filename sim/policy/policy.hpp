// Policies turn stages, a platform and a workload into a plan. Each policy has one file. policy/catalog.cpp lists the
// policies. A policy does not know the executor that will execute its plan.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "document/choice.hpp"
#include "planning/candidate.hpp"
#include "planning/draft.hpp"

namespace sluice {

/// A mode for which a policy can plan, and the strategies for fates that the policy supports in this mode.
struct PlansFor {
  Mode mode = Mode::inference;
  /// The names of the strategies. If there are none, the policy supports all strategies of the mode.
  std::vector<std::string> fates = {};
};

/// A cut of the model, as a scenario would write it under `stages:`, for example {cut: by_weight, groups: 12}.
struct CutChoice {
  const char* cut = "";
  /// A second key next to `cut`; null if there is no second key.
  const char* key = nullptr;
  std::int64_t count = 0;  ///< the value of `key`
  /// For the cut `explicit`, the numbers of the layers after which to cut.
  std::vector<std::int64_t> after = {};
};

/// The facts on which cuts may depend. The size of a memory is not one of these facts, so the cuts do not depend on the
/// size of a memory.
struct CutQuestion {
  Mode mode = Mode::inference;
  std::size_t layers = 0, devices = 0;
};

/// A policy's record. The function `plan` makes a draft from the request and the policy's parameters.
///
/// Other code relies on the following rules of `plan`. Tests check these rules where this is possible.
/// - `plan` may assume that the request is complete: stages cover the model in order, the numbers of the workload fit
///   each other, and devices have rates. `parameters` has only keys of this record, with the right types and within
///   their limits. The workload's mode and the fates are among `modes`.
/// - The draft must do the model's work once for each sample of each step, and count each sample once in
///   `samples_done`. Every wait must refer to an earlier action of the list, and the body must release all tensors that
///   it allocates. A test of all policies tests the rule about work and samples, and check() tests the rules about
///   waits and tensors for each plan.
/// - The body is the shortest part that repeats, and `iterations_per_step` bodies are a step. So a plan for a million
///   micro-batches lists as many actions as a plan for ten micro-batches.
/// - `plan` sets no prices and no routes, because finish() sets them for all policies. finish() also makes the actions
///   wait for each other if the draft says `one_at_a_time`. If an action does only a part of its stage's work,
///   Action::part names this part, and the action gets the price of the part.
/// - `plan` may allocate without checking capacities, because check() reports what does not fit. A policy that knows
///   that no plan can fit throws Infeasible, and says what would fit.
/// - Facts (Plan::facts) say what `plan` decided, for the report. No code uses these facts for a decision.
/// - The draft may say which of its decisions depend on prices (Draft::decisions). If the draft says this, a sweep over
///   prices makes the plan once and only replaces its prices. Otherwise each point of the sweep is planned again.
/// - Equal requests give equal drafts, also when several threads call `plan` at the same time.
///
/// Read the shortest policy, policy/basic.cpp, first. A policy may throw InputError at a parameter, and Infeasible.
struct Policy {
  std::string name;
  std::string summary;  ///< one sentence
  /// A paragraph that says what the policy does, when to use it, and what it costs.
  std::string details = {};
  std::string source;        ///< the paper or document, and its section, that describes the policy
  std::string example = {};  ///< a command that runs as it is written here
  std::vector<Field> parameters;
  /// The workloads that the policy can plan. A scenario with another workload is refused when it is read.
  std::vector<PlansFor> modes = {{Mode::inference, {"keep_all"}}};
  /// Whether the policy uses several devices. If so, stages are cut for the smallest device.
  bool all_devices = false;
  bool takes_phases = false;  ///< whether the policy uses the scenario's `phases:`
  /// Whether the policy plans for the one device that its parameter `device` names.
  bool replicable = false;
  /// Whether the parameter `replica` names a replicable policy, which makes the plan of each device. In a scenario, the
  /// keys of the replicable policy are next to the keys of this policy.
  bool replicates = false;
  /// Returns the cuts that are planned and compared if the scenario does not cut the model. If the policy compares
  /// cuts, it also compares strategies for fates. If the function is null, the whole model is one stage, and all
  /// activations are kept.
  std::vector<CutChoice> (*cuts)(const CutQuestion& question) = nullptr;
  std::function<Draft(const PolicyRequest& request, const Reader& parameters)> plan;
  /// Makes a plan of a single replica. The judge compares cuts and fates by this plan if complete plans would take too
  /// long. If the function is null or returns nothing, the judge compares cuts and fates by the plans that `plan` makes.
  std::function<std::optional<Draft>(const PolicyRequest& request, const Reader& parameters)>
      alone = {};
  /// Returns candidates: the ways to make the choices that the parameters leave open. The judge compares these
  /// candidates. The candidates hold references to the request. If there are no candidates, the only plan is the plan
  /// that `plan` makes.
  std::function<std::vector<Candidate>(const PolicyRequest& request, const Reader& parameters)>
      candidates = {};
  /// Returns one mapping for `policy:` for each way to make the open choices. In each mapping all choices are made, and
  /// the first mapping is the usual way. If the function is null, only `candidates` makes open choices.
  std::function<std::vector<Value>(const PolicyRequest& request, const Reader& parameters)>
      alternatives = {};
};

/// Returns the cuts that a policy compares: the whole model as one stage, the cuts in `between`,
/// and the finest cuts (unless the model has too many layers). If the model has at most
/// `most_places` places for a cut, every possible cut is added.
std::vector<CutChoice> cuts_with(const CutQuestion& question, const std::vector<CutChoice>& between,
                                 std::size_t most_places = 0);
/// Returns cuts_with() for cuts into stages of about equal time and cuts into stages of about equal
/// weights. One of the cuts into stages of equal time has a stage per device. Training has fewer of
/// these cuts than inference, because each cut is planned with every strategy for fates. For a
/// model of a few layers, every possible cut is added.
std::vector<CutChoice> cuts_for_devices(const CutQuestion& question);

const Catalog<Policy>& policy_catalog();

/// Adds a policy while the program runs, or replaces a policy that was added in this way. Throws InputError if the name
/// is empty or is the name of a compiled-in policy. Catalogs that policy_catalog() returned earlier remain valid.
void add_policy(Policy policy);

/// Returns the record of the `policy:` mapping of a scenario: `name`, and the parameters of this policy.
Record record_of(const Policy& policy);

/// Returns the policy that plans for a device. If `policy` replicates another policy, this is the policy that
/// `parameters` name as `replica`. Otherwise returns `policy` itself.
const Policy& acting_policy(const Policy& policy, const Reader& parameters);

}  // namespace sluice
