#include "planning/phased/plans.hpp"

#include <utility>

#include "planning/phased/program.hpp"

namespace sluice {
namespace {

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
  const PhaseRules rules = read_phase_rules(request, parameters);
  PlansForMachine plans{.plan =
                            [&parameters](const PolicyRequest& machine) {
                              return list_phases(machine, read_phase_rules(machine, parameters));
                            },
                        .on = {each_once(rules.devices), rules.overlap},
                        .passed = {.inputs_stay = true, .answers_pass = true}};
  for (const PhaseTurns& turns : open_turns(request, parameters))
    plans.fixed.push_back(fixed(rules, turns));
  if (plans.fixed.empty()) plans.fixed.push_back(fixed("", rules));
  plans.candidates = candidates_of(plans.fixed);
  return plans;
}

}  // namespace sluice
