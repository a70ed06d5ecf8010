// Policies turn stages, a platform and a workload into a plan. Each policy has one file;
// policy/catalog.cpp lists them. A policy knows nothing of the engine that will execute its plan.
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

/// The scenario's `phases:` mapping.
const Record& phases_record();

/// A kind of workload for which a policy plans, and the strategies for fates that it honours there.
struct PlansFor {
  Mode mode = Mode::inference;
  /// The names of the strategies; empty: every one that there is for the mode.
  std::vector<std::string> fates = {};
};

/// A way to cut the model, in the words of `stages:`: {cut: by_weight, groups: 12}.
struct CutChoice {
  const char* cut = "";
  const char* key = nullptr;  ///< beside `cut`; null: none
  std::int64_t count = 0;     ///< of that key
};

/// What the ways to cut a model may depend on; never the size of a memory.
struct CutQuestion {
  Mode mode = Mode::inference;
  std::size_t layers = 0, devices = 0;
};

/// A policy's record. Its verb is `plan`: from the request and the policy's parameters to a draft.
///
/// Contract
/// - It may assume: the request is whole (stages cover the model in order, the workload's numbers
///   fit each other, devices have rates), and `parameters` holds keys of this record only, of their
///   types and within their limits; the workload's mode and the fates are among its `modes`.
/// - The draft must satisfy: the model's work is done once for each sample of each step, and each
///   sample is counted once in `samples_done`; every wait looks back in the listing; what the body
///   allocates it releases. `check` tests the last two of each plan, the test of all policies the
///   first.
/// - The body is the shortest part that repeats: `iterations_per_step` of them are a step. A plan
///   is then as long for a million micro-batches as for ten.
/// - It prices nothing and routes nothing: finish() does, once for all policies, and puts one
///   action after the other where the draft says `one_at_a_time`. An action that does a part of
///   its stage's work says so in Action::part, and is priced for that part.
/// - It asks for memory and trusts the executor: what does not fit is reported by `check`. A policy
///   that knows that nothing can fit throws Infeasible, with what would.
/// - Facts (Plan::facts) say what it decided, for the report; nothing reads them to decide.
/// - It may say what prices decided of the draft (Draft::decisions): a sweep of prices then makes
///   the plan once and prices it again. A policy that says nothing is planned anew for each point.
/// - The same request gives the same draft, also where several ask at once.
///
/// The shortest policy is policy/basic.cpp: read that first. It may throw InputError (at the
/// parameter) and Infeasible.
struct Policy {
  std::string name;
  std::string summary;       ///< one sentence
  std::string source;        ///< paper or document, section
  std::string example = {};  ///< a command that runs as it stands
  std::vector<Field> parameters;
  /// The workloads for which it plans; anything else is refused where the scenario is read.
  std::vector<PlansFor> modes = {{Mode::inference, {"keep_all"}}};
  bool all_devices = false;   ///< uses several devices: stages are cut for the smallest
  bool takes_phases = false;  ///< the scenario's `phases:` is for it
  bool replicable = false;    ///< plans for the one device that its parameter `device` names
  /// Its parameter `replica` names a replicable policy, which plans for each device; the keys of
  /// that policy are written beside its own.
  bool replicates = false;
  /// The cuts that are planned and compared where the scenario does not say how the model is cut;
  /// the same for strategies for fates. Null: the whole model is one stage, and everything is kept.
  std::vector<CutChoice> (*cuts)(const CutQuestion& question) = nullptr;
  std::function<Draft(const PolicyRequest& request, const Reader& parameters)> plan;
  /// What cuts and fates are compared by, where planning everything for each of them would take too
  /// long: a single replica. Null: `plan`.
  std::function<Draft(const PolicyRequest& request, const Reader& parameters)> alone = {};
  /// Ways to settle what the parameters leave open, for the judge; empty: only `plan`. They refer
  /// to the request.
  std::function<std::vector<Candidate>(const PolicyRequest& request, const Reader& parameters)>
      candidates = {};
  /// Mappings for `policy:` in which each open choice is settled in one way, the usual one first;
  /// null: nothing is open except what `candidates` settles.
  std::function<std::vector<Value>(const PolicyRequest& request, const Reader& parameters)>
      alternatives = {};
};

/// The `cuts` of a policy that compares the whole model as one stage, then `between`, then the
/// finest cuts of a model that is not too long for them.
std::vector<CutChoice> cuts_with(const CutQuestion& question,
                                 const std::vector<CutChoice>& between);
/// The same with stages of about equal time, one for each device among them, and of about equal
/// weights; in training, where a stage takes its turn with each pass, with nothing between.
std::vector<CutChoice> cuts_for_devices(const CutQuestion& question);

const Catalog<Policy>& policy_catalog();

/// Adds a policy while the program runs, or replaces one that was added in this way: for policies
/// that are not compiled in. Throws InputError when the name is empty or that of a compiled-in
/// policy. Lists that were handed out remain valid.
void add_policy(Policy policy);

/// The record of a scenario's `policy:` mapping: `name` and the policy's parameters.
Record record_of(const Policy& policy);

/// The policy that plans for a device: the one that `parameters` name as `replica`, or `policy`
/// itself where it does not replicate another one.
const Policy& acting_policy(const Policy& policy, const Reader& parameters);

}  // namespace sluice
