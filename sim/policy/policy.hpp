// Policies: from stages, a platform and a workload to a plan. One file a policy; policy/catalog.cpp
// lists them. A policy knows nothing of the engine that will execute its plan.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "document/record.hpp"
#include "planning/candidate.hpp"
#include "planning/draft.hpp"

namespace sluice {

/// The scenario's `phases:` mapping.
const Record& phases_record();

/// A policy's record. Its verb is `plan`: from the request and the policy's parameters to a draft.
///
/// Contract
/// - It may assume: the request is whole (stages cover the model in order, the workload's numbers
///   fit each other, devices have rates), and `parameters` holds keys of this record only, of their
///   types and within their limits. What the policy cannot do (training, fates, phases) it refuses
///   itself, at the key.
/// - The draft must satisfy: the model's work is done once for each sample of each step, and each
///   sample is counted once in `samples_done`; every wait looks back in the listing; what the body
///   allocates it releases. `check` tests this of each plan.
/// - The body is the shortest part that repeats: `iterations_per_step` of them are a step. A plan
///   is then as long for a million micro-batches as for ten.
/// - It prices nothing and routes nothing: finish() does, once for all policies, and puts one
///   action after the other where the draft says `one_at_a_time`. Only what finish() cannot know (a
///   part of a stage) is priced by the policy.
/// - It asks for memory and trusts the executor: what does not fit is reported by `check`. Where
/// the
///   policy itself knows that nothing can fit, it throws Infeasible, with what would.
/// - Facts (Plan::facts) say what it decided, for the report; nothing reads them to decide.
/// - The same request gives the same draft, also where several ask at once.
///
/// The shortest policy is policy/basic.cpp: read that first. It may throw InputError (at the
/// parameter) and Infeasible.
struct Policy {
  std::string name;
  std::string summary;  ///< one sentence
  std::string source;   ///< paper or document, section
  std::vector<Field> parameters;
  bool all_devices = false;  ///< uses several devices: stages are cut for the smallest
  bool open = false;         ///< takes other keys, too (those of the policy that it replicates)
  /// Where a scenario does not say how the model is cut, or what becomes of activations, several
  /// ways are planned and compared; else the whole model is one stage, and all is kept.
  bool compares = false;
  std::function<Draft(const PolicyRequest& request, const Reader& parameters)> plan;
  /// What ways to cut the model, and fates, are compared by, where planning everything for each of
  /// them would be too much: one replica by itself. Null: `plan`.
  std::function<Draft(const PolicyRequest& request, const Reader& parameters)> alone = {};
  /// Ways to settle what the parameters leave open, for the judge; empty: `plan` alone. They refer
  /// to the request.
  std::function<std::vector<Candidate>(const PolicyRequest& request, const Reader& parameters)>
      candidates = {};
  /// Mappings for `policy:` with what is open settled in one way each, the usual one first; null:
  /// nothing is open but what `candidates` settles.
  std::function<std::vector<Value>(const PolicyRequest& request, const Reader& parameters)>
      alternatives = {};
};

const Catalog<Policy>& policy_catalog();

/// Adds a policy while the program runs, or replaces one that was added so: for policies that are
/// not compiled in. Throws InputError when the name is empty or one of those that are. Lists that
/// were handed out stay valid.
void add_policy(Policy policy);

/// The record of a scenario's `policy:` mapping: `name` and the policy's parameters.
Record record_of(const Policy& policy);

}  // namespace sluice
