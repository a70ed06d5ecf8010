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

/// A mode for which a policy can plan, and the strategies for fates in this mode.
struct PlansFor {
  Mode mode = Mode::inference;
  /// The names of the strategies. If there are none, the policy supports all strategies of the mode.
  std::vector<std::string> fates = {};
};

/// A cut of the model, as a scenario would write it under `stages:`, for example {cut: by_weight, groups: 12}.
struct CutChoice {
  const char* cut = "";
  /// A second key next to `cut`. Null means that there is no second key.
  const char* key = nullptr;
  std::int64_t count = 0;  ///< the value of `key`
  /// For the cut `explicit`: the model is cut after the layers with these numbers.
  std::vector<std::int64_t> after = {};
};

/// The facts on which cuts may depend. Cuts do not depend on the size of a memory.
struct CutQuestion {
  Mode mode = Mode::inference;
  std::size_t layers = 0, devices = 0;
};

/// A policy's record. The function `plan` makes a draft from the request and the policy's parameters.
///
/// Other code relies on the following rules of `plan`.
/// - The request is complete. Stages cover the model in order, the numbers of the workload fit each other, and devices
///   have rates. `parameters` has only keys of this record, with the right types and within their limits. The
///   workload's mode and the fates are among `modes`.
/// - The draft must do the model's work once for each sample of each step. It must count each sample once in
///   `samples_done`. A test of all policies checks both rules. Every wait must refer to an earlier action of the list.
///   The body must release all tensors that it allocates. check() tests these two rules for each plan.
/// - The body is the shortest part that repeats. A step is `iterations_per_step` bodies. So a plan for a million
///   micro-batches has no more actions than a plan for ten micro-batches.
/// - `plan` sets no prices and no routes: finish() sets them for all policies. If the draft says `one_at_a_time`,
///   finish() also makes the actions wait for each other. An action may do only a part of its stage's work.
///   Action::part then names this part, and the action gets the price of the part.
/// - `plan` may allocate without checking capacities: check() reports what does not fit. If a policy knows that no plan
///   can fit, it throws Infeasible and says what would fit.
/// - Facts (Plan::facts) tell the report what `plan` decided. No code uses these facts for a decision.
/// - The draft may say which of its decisions depend on prices (Draft::decisions). A sweep over prices then makes the
///   plan once and only replaces its prices. Without this list, each point of the sweep is planned again.
/// - Equal requests give equal drafts. Several threads may call `plan` at the same time.
///
/// Read the shortest policy, policy/basic.cpp, first. A policy may throw InputError at a parameter, and Infeasible.
struct Policy {
  std::string name;
  std::string summary;  ///< one sentence
  /// A paragraph: when to use the policy, what it does, and what it costs.
  std::string details = {};
  std::string source;        ///< the paper or document, and its section, that describes the policy
  std::string example = {};  ///< a command that runs as it is written here
  std::vector<Field> parameters;
  /// The workloads that the policy can plan. A scenario with another workload is refused when it is read.
  std::vector<PlansFor> modes = {{Mode::inference, {"keep_all"}}};
  /// Whether the policy uses several devices. If so, stages are cut for the smallest device.
  bool all_devices = false;
  bool takes_phases = false;  ///< whether the policy uses the scenario's `phases:`
  /// Whether the policy plans for one device. Its parameter `device` names this device.
  bool replicable = false;
  /// Whether another policy makes the plan of each device. The parameter `replica` names this replicable policy. In a
  /// scenario, its keys are next to the keys of this policy.
  bool replicates = false;
  /// If the scenario does not cut the model, returns the cuts to compare. If the policy compares cuts, it also compares
  /// strategies for fates. If the function is null, the whole model is one stage, and all activations are kept.
  std::vector<CutChoice> (*cuts)(const CutQuestion& question) = nullptr;
  std::function<Draft(const PolicyRequest& request, const Reader& parameters)> plan;
  /// Makes a plan of a single replica. If complete plans would take too long, the judge compares cuts and fates by this
  /// plan. If the function is null or returns nothing, the judge compares them by the plans of `plan`.
  std::function<std::optional<Draft>(const PolicyRequest& request, const Reader& parameters)>
      alone = {};
  /// Returns candidates: the ways to make the choices that the parameters leave open. The judge compares these
  /// candidates. The candidates hold references to the request. Without candidates, `plan` makes the only plan.
  std::function<std::vector<Candidate>(const PolicyRequest& request, const Reader& parameters)>
      candidates = {};
  /// Returns one mapping for `policy:` for each way to make the open choices. In each mapping all choices are made, and
  /// the first mapping is the usual way. If the function is null, only `candidates` makes open choices.
  std::function<std::vector<Value>(const PolicyRequest& request, const Reader& parameters)>
      alternatives = {};
};

/// Returns the cuts that a policy compares. The first cut is the whole model as one stage. The cuts in `between`
/// follow, and then the finest cuts. A model with more than 512 layers gets no finest cuts. If the model has at most
/// `most_places` places for a cut, every possible cut is added.
std::vector<CutChoice> cuts_with(const CutQuestion& question, const std::vector<CutChoice>& between,
                                 std::size_t most_places = 0);
/// Returns cuts_with() for two kinds of cuts: into stages of about equal time, and into stages of about equal weights.
/// One of the cuts into stages of equal time has a stage per device. In training, each cut is planned with every
/// strategy for fates. So training has fewer cuts than inference. For a model of a few layers, every possible cut is
/// added.
std::vector<CutChoice> cuts_for_devices(const CutQuestion& question);

const Catalog<Policy>& policy_catalog();

/// Adds a policy while the program runs. A policy of the same name that was added earlier is replaced. Throws
/// InputError if the name is empty or is the name of a compiled-in policy. Catalogs that policy_catalog() returned
/// earlier remain valid.
void add_policy(Policy policy);

/// Returns the record of a scenario's mapping `policy:`, with the field `name` and the parameters of this policy.
Record record_of(const Policy& policy);

/// Returns the policy that plans for a device. Usually, this is `policy` itself. If `policy` replicates another policy,
/// it is the policy that the parameter `replica` names.
const Policy& acting_policy(const Policy& policy, const Reader& parameters);

}  // namespace sluice
