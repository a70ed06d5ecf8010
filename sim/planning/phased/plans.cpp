#include "planning/phased/plans.hpp"

#include <algorithm>
#include <utility>

#include "planning/phased/listing.hpp"

namespace sluice {
namespace {

/// Returns the rules of the policy. With a second memory, tensors may be placed after the phases have been listed.
PhaseRules rules_of(const PolicyRequest& request, const Reader& parameters) {
  PhaseRules rules = read_phase_rules(request, parameters);
  rules.may_be_placed = std::ranges::any_of(rules.devices, [&](const std::string& name) {
    return request.pricing.platform.device(name).memories.size() > 1;
  });
  return rules;
}

FixedPlan fixed(const std::string& text, PhaseRules rules) {
  return {text, [rules = std::move(rules)](const PolicyRequest& machine) {
            return list_phases(machine, rules);
          }};
}

FixedPlan fixed(PhaseRules rules, const PhaseTurns& turns) {
  rules.in_flight = turns.in_flight;
  rules.last_turn = turns.last_turn;
  std::string text = "in_flight: " + std::to_string(turns.in_flight);
  if (turns.last_turn > 0) text += ", last_turn: " + std::to_string(turns.last_turn);
  return fixed(text, std::move(rules));
}

}  // namespace

std::vector<PhaseTurns> open_turns(const PolicyRequest& request, const Reader& parameters) {
  const PhaseRules rules = read_phase_rules(request, parameters);
  if (rules.once_a_step) return {};
  std::vector<PhaseTurns> turns = turns_to_compare(rules, request.workload, parameters);
  if (turns.size() == 1) turns.clear();
  return turns;
}

PlansForMachine phase_plans(const PolicyRequest& request, const Reader& parameters) {
  const PhaseRules rules = rules_of(request, parameters);
  PlansForMachine plans{
      .plan =
          [&parameters, placed = rules.may_be_placed](const PolicyRequest& machine) {
            PhaseRules of_machine = read_phase_rules(machine, parameters);
            of_machine.may_be_placed = placed;
            return list_phases(machine, of_machine);
          },
      .on = {each_once(rules.devices), rules.overlap},
      .passed = {.answers_pass = true}};
  for (const PhaseTurns& turns : open_turns(request, parameters))
    plans.fixed.push_back(fixed(rules, turns));
  if (plans.fixed.empty()) plans.fixed.push_back(fixed("", rules));
  plans.candidates = candidates_of(plans.fixed);
  return plans;
}

}  // namespace sluice
