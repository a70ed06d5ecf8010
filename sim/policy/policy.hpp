// A policy turns stages, a platform and a workload into a plan. It does not know the executor that will run the plan.
// Each policy has a file of its own, and policy/catalog.cpp lists all policies.
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

/// A mode in which a policy can plan, and the strategies for fates that it supports in this mode.
struct PlansFor {
  Mode mode = Mode::inference;
  /// The names of the strategies. An empty list means all strategies of the mode.
  std::vector<std::string> fates = {};
};

/// A cut of the model, as a scenario would write it under `stages:`, for example {cut: by_weight, groups: 12}.
struct CutChoice {
  const char* cut = "";
  /// The second key, next to `cut`. Null if there is none.
  const char* key = nullptr;
  std::int64_t count = 0;  ///< the value of `key`
  /// Only for the cut `explicit`: the numbers of the layers after which the model is cut.
  std::vector<std::int64_t> after = {};
  const char* of = nullptr;  ///< only for the cut `balanced`: the value of the key `of`, or null
  /// If at least 2: all cuts into at least so many stages are compared, too, in which some neighbouring stages of this
  /// cut are joined. If it has more than 8 stages: those in the 7 places nearest to equal shares of the weights.
  int joined_from = 0;
};

/// Returns a lower bound of the seconds of the plans with these parameters.
using BoundOfWays = std::function<double(const Reader& parameters)>;

/// The properties of a scenario on which the compared cuts may depend. The size of a memory is not among them.
struct CutQuestion {
  Mode mode = Mode::inference;
  std::size_t layers = 0, devices = 0;
  /// Whether training plans each cut in many ways: with several strategies for fates, with a strategy that searches for
  /// fates, or with placements in two memories.
  bool many_ways = false;
};

/// A policy's record. The function `plan` makes a draft from the request and the policy's parameters.
///
/// Other code relies on the following rules of `plan`.
/// - The request is complete. The stages cover the model in order, the numbers of the workload are consistent, and the
///   devices have rates. `parameters` has only keys of this record, with the right types and within their limits. The
///   workload's mode and the fates are among `modes`.
/// - The draft must do the work of the model once for each sample of each step. The sum of `samples_done` must count
///   each sample once. A test checks these two rules for all policies. Every wait must refer to an action that is
///   listed earlier. The body must release all tensors that it allocates. check() checks these two rules for each plan.
/// - The body is the shortest part of a step that repeats: a step runs it `iterations_per_step` times. A batch of
///   training, and a step of inference under `streamed`, do not repeat: their actions grow with the micro-batches.
/// - `plan` sets no prices and no routes: finish() sets them for all policies. If the draft says `one_at_a_time`,
///   finish() also makes the actions wait for each other. If an action does only a part of its stage's work,
///   Action::part must name the part. Then the action gets the price of this part.
/// - `plan` need not check capacities: check() reports what does not fit. But if a policy knows that none of its plans
///   can fit, it throws Infeasible and says what would fit.
/// - Facts (Plan::facts) tell the report what `plan` has decided. No code uses them for a decision.
/// - The draft may say which of its decisions depend on prices (Draft::decisions). Then a sweep over prices makes a
///   plan only for points with new decisions. Any other point gets the plan of a point with the same decisions, and
///   only the prices in this plan are replaced. If the draft does not say it, the sweep makes a plan for each point.
/// - Equal requests give equal drafts. Several threads may call `plan` at the same time.
///
/// For an example, read the shortest policy, policy/basic.cpp. A policy may throw InputError at the position of a
/// parameter, and Infeasible.
struct Policy {
  std::string name;
  std::string summary;  ///< one sentence
  /// A paragraph that says when to use the policy, what it does, and what it costs.
  std::string details = {};
  std::string source;        ///< the paper or document, and its section, that describes the policy
  std::string example = {};  ///< a command that runs as it is written here
  std::vector<Field> parameters;
  /// The modes and fates for which the policy can plan. The reader of scenarios refuses a scenario with another mode or
  /// other fates.
  std::vector<PlansFor> modes = {{Mode::inference, {"keep_all"}}};
  /// Whether the policy uses several devices. If it does, the model is cut into stages for the device with the smallest
  /// memory.
  bool all_devices = false;
  bool takes_phases = false;  ///< whether the policy uses the scenario's `phases:`
  /// Whether the policy can plan for a single device, which its parameter `device` names.
  bool replicable = false;
  /// Whether another policy makes the plan of each device. The parameter `replica` names this other policy, which must
  /// be replicable. In a scenario, the keys of the two policies stand next to each other.
  bool replicates = false;
  /// Returns the cuts to compare if the scenario does not cut the model. A policy that compares cuts also compares
  /// strategies for fates. If the function is null, the whole model is one stage, and all activations are kept.
  std::vector<CutChoice> (*cuts)(const CutQuestion& question) = nullptr;
  std::function<Draft(const PolicyRequest& request, const Reader& parameters)> plan;
  /// Makes a plan of a single replica if there are many replicas. Then plans of all replicas would take too long to
  /// make and to simulate, so the judge compares cuts and fates by the plan of one replica. If the function is null or
  /// returns nothing, the judge compares them by the plans of `plan`.
  std::function<std::optional<Draft>(const PolicyRequest& request, const Reader& parameters)>
      alone = {};
  /// Returns candidates for the judge: the ways to make the choices that the parameters leave open. The candidates hold
  /// references to the request. If there are no candidates, `plan` makes the only plan.
  std::function<std::vector<Candidate>(const PolicyRequest& request, const Reader& parameters)>
      candidates = {};
  /// Returns mappings for `policy:`, one for each way to make the open choices. A mapping leaves no choice open. The
  /// first mapping is the usual way. If the function is null, open choices are made only by `candidates`.
  std::function<std::vector<Value>(const PolicyRequest& request, const Reader& parameters)>
      alternatives = {};
  /// Returns a function that returns, for a mapping of `alternatives` or for `parameters` itself, a lower bound of the
  /// seconds of every plan that `plan` makes with this mapping. The judge does not call `plan` if another plan is faster
  /// than this bound. `request` outlives the function. If `at_least` is null, no bound is known.
  std::function<BoundOfWays(const PolicyRequest& request, const Reader& parameters)> at_least = {};
};

/// Returns the cuts that a policy compares: first the whole model as one stage, then the cuts in `between`, and then
/// the finest cuts, unless the model has more than 512 layers. If the model can be cut in at most `most_places` places,
/// every possible cut is added.
std::vector<CutChoice> cuts_with(const CutQuestion& question, const std::vector<CutChoice>& between,
                                 std::size_t most_places = 0);
/// Returns cuts_with() for cuts into groups with about equally many bytes of weights, because the weights of the groups
/// take turns in memory. For some of these cuts, layers are split.
std::vector<CutChoice> cuts_for_turns(const CutQuestion& question);
/// Returns cuts_with() for two kinds of cuts: into stages of about equal time, and into stages of about equal weights.
/// With several devices, one of the cuts into stages of equal time has as many stages as there are devices. For a
/// model with a few layers, every possible cut is added. For a larger model, every cut is added that joins neighbours
/// of a few stages of about equal time, or of about equal weights. Training has fewer cuts than inference, and
/// the fewest if each cut is planned with every strategy. With one strategy, it also has cuts near eighths of weights.
std::vector<CutChoice> cuts_for_devices(const CutQuestion& question);

const Catalog<Policy>& policy_catalog();

/// Adds a policy while the program runs. It replaces a policy of the same name that was added earlier. Throws
/// InputError if the name is empty or is the name of a compiled-in policy. Catalogs that policy_catalog() returned
/// earlier remain valid.
void add_policy(Policy policy);

/// Returns the record of the mapping `policy:` in a scenario with this policy: the field `name` and the parameters of
/// the policy.
Record record_of(const Policy& policy);

/// Returns the policy that makes the plan of a device: `policy` itself, or, if `policy` replicates another policy, the
/// policy that the parameter `replica` names.
const Policy& acting_policy(const Policy& policy, const Reader& parameters);

}  // namespace sluice
