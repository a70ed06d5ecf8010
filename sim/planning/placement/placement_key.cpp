#include "planning/placement/placement_key.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "document/key.hpp"
#include "planning/common_parameters.hpp"
#include "planning/joined_replicas.hpp"
#include "planning/placement/held_once.hpp"
#include "planning/placement/placed_candidates.hpp"
#include "planning/placement/placed_draft.hpp"
#include "planning/placement/placed_question.hpp"
#include "planning/placement/turns/placed_turns.hpp"

namespace sluice {

namespace {

/// Values of the key: `none` keeps all tensors in one memory. `auto` compares plans that use one memory with plans that
/// use two memories.
constexpr const char* nowhere_else = "none";
constexpr const char* compared = "auto";

using Placements = std::vector<std::string>;

/// Returns whether `placement` names a placement of tensors.
bool places(const Reader& parameters) {
  const std::string way = parameters.text("placement");
  return way != nowhere_else && way != compared && way != backing;
}

/// Returns whether the scenario names a placement method that searches. All tensors in the first memory are also one of
/// its placements. So the plans of `none`, which transfer in other ways, are compared with the plan of the method.
bool searches(const Reader& parameters) {
  const std::string way = parameters.text("placement");
  return way == "static" || moves_tensors(way);
}

/// Throws an error if the placement is `cached` and the device reaches slow memory over a link.
void require_own_memories(const PolicyRequest& request, const Reader& parameters) {
  if (!parameters.is_word("placement", hardware_cache)) return;
  const TwoMemories memories =
      two_memories(request.pricing.platform, read_common(request, parameters).device.name);
  if (memories.far)
    parameters.fail("placement",
                    "'placement: cached' needs a device that reaches two memories without a link: "
                    "no hardware cache works over a link. Device '" +
                        memories.device->name + "' reaches '" + memories.slow +
                        "' only over a link: use another placement");
}

/// Returns whether a placement is possible with the platform's memories and the cost model.
bool can_place(const PolicyRequest& request, const Reader& parameters) {
  try {
    PlacedQuestion(request, read_common(request, parameters), {}, "", {});
    return true;
  } catch (const InputError&) {
    return false;
  } catch (const Infeasible&) {
    return false;
  }
}

/// Returns mappings for `policy:`: one for each placement in `first`, and then one for each placement in `others`.
std::vector<Value> with_placements(const Reader& parameters, Placements first,
                                   const Placements& others) {
  first.insert(first.end(), others.begin(), others.end());
  std::vector<Value> maps;
  for (const std::string& placement : first) {
    maps.push_back(parameters.map());
    maps.back().set("placement", Value::make(placement));
  }
  return maps;
}

/// Returns the plan of the policy in which a method, such as `static`, chooses the memory of each single tensor.
Draft placed_plan(const PolicyRequest& request, const Reader& parameters,
                  const std::string& policy) {
  require_own_memories(request, parameters);
  if (request.workload.training) refuse_common_in_training(parameters);
  const CommonParameters common = read_common(request, parameters);
  std::optional<PlacedDraft> placed = placed_draft(
      {request, common, placed_fates(request, common), policy, parameters.text("placement")});
  if (!placed) throw InternalError("no placement was found, and no error was reported");
  placed->say_gap(placed->draft.plan);
  if (request.workload.training && request.strategy().searches)
    say_gap(request, common, policy, parameters.text("placement"), placed->draft);
  return std::move(placed->draft);
}

/// Returns whether plans that offload tensors to the second memory are needed: `backing` asks for them, and `auto`
/// compares them with other plans. Throws InputError at `placement`.
bool backs(const PolicyRequest& request, const Reader& parameters) {
  const Platform& platform = request.pricing.platform;
  const std::string& device = read_common(request, parameters).device.name;
  if (parameters.is_word("placement", backing)) {
    require_backing(platform, device, parameters);
    if (!request.workload.training)
      parameters.fail(
          "placement",
          "under policy resident, 'placement: backing' is only for training, because in "
          "inference this policy moves only inputs and answers: use policy streamed, "
          "or another placement");
    return true;
  }
  return parameters.is_word("placement", compared) && request.workload.training &&
         request.strategy().name != "keep_all" && why_no_backing(platform, device).empty();
}

/// If `placement: auto` compares placements in training, returns one mapping for `policy:` per compared placement.
/// These mappings are compared if the strategy for fates has no candidates, or if replicas need the same placement.
std::vector<Value> placements_of_training(const PolicyRequest& request, const Reader& parameters) {
  if (!parameters.is_word("placement", compared)) return {};
  Placements homes = {nowhere_else}, others;
  if (backs(request, parameters)) homes.emplace_back(backing);
  if (!request.sums_gradients && can_place(request, parameters)) others = placements_compared();
  if (homes.size() + others.size() == 1) return {};
  return with_placements(parameters, std::move(homes), others);
}

/// Returns the homes that `placement` allows for weights that take turns. Throws InputError at `placement`.
Homes homes_of(const PolicyRequest& request, const Reader& parameters,
               const PlansForMachine& of_policy) {
  const std::string said = parameters.text("placement");
  if (said != backing && said != compared) return {.host = true};
  const std::string why = why_no_common_home(request.pricing.platform, of_policy.on);
  if (said == backing && !why.empty())
    parameters.fail("placement", "'backing' for 'placement': " + why + "; expected placement none" +
                                     (of_policy.on.names.size() > 1 ? ", static or auto" : ""));
  return {said != backing, said == backing || (why.empty() && of_policy.takes_turns)};
}

/// Returns the placements of tensors in both memories of the devices that `auto` also compares, for a policy that plans
/// as if each device had a single memory. The plans with `first_touch` are among those with `static`. A device with a
/// hardware cache is another machine. If the cost model does not count the bandwidths of memories, a scenario may not
/// ask for these placements, so they are not compared either.
Placements turns_compared(const PolicyRequest& request, const Reader& parameters,
                          const PlansForMachine& of_policy) {
  const bool compares = parameters.is_word("placement", compared) && request.memories_counted &&
                        why_no_second(request.pricing.platform, of_policy.on).empty();
  return compares ? Placements{static_placement, all_slow_placement} : Placements();
}

/// Returns the candidates of `auto` with the placement `way`. The scenario does not name `way`. So if the cost model
/// has no price for this placement, this is no error: the candidates are left out, and `way` is erased from `priced`.
Candidate placed_turns_with(const std::string& way, const PolicyRequest& request,
                            const PlansForMachine& of_policy,
                            const std::shared_ptr<Placements>& priced) {
  return changed(
      proven_for(way, placed_on_shown_machines({request, way, of_policy})),
      [way](Settled& one) { one.text = with_placement(way, one.text); },
      [way, priced](const auto& call) {
        try {
          call();
        } catch (const InputError&) {
          std::erase(*priced, way);
        }
      });
}

/// Returns the candidates of `auto` whose tensors are in both memories of the device. The plans with `all_slow` are
/// among those with `static`. So `all_slow` gets candidates of its own only if the cost model has no prices for
/// `static`. `priced` is a list of names: `static` and `all_slow`. Those without prices are erased from the list.
Candidate placed_turns_compared(const PolicyRequest& request, const PlansForMachine& of_policy,
                                const std::shared_ptr<Placements>& priced) {
  Candidate all = placed_turns_with(static_placement, request, of_policy, priced);
  Candidate slow = placed_turns_with(all_slow_placement, request, of_policy, priced);
  all.open = [open = std::move(all.open), open_slow = std::move(slow.open), priced] {
    std::vector<Candidate> opened = open();
    return std::ranges::count(*priced, static_placement) > 0 ? opened : open_slow();
  };
  return all;
}

/// Adds a fact to the plans of a candidate: the names of the placements that were compared. `homes` has the first of
/// these names, and `turns` has the others. `turns` is known only when all candidates have been judged, and a plan is
/// made after that.
Candidate saying_compared(Candidate candidate, const std::string& homes,
                          const std::shared_ptr<const Placements>& turns) {
  return with_changed_plans(std::move(candidate), [homes, turns](Plan& plan) {
    std::string placements = homes;
    for (const std::string& one : *turns) placements += ", " + one;
    plan.facts.emplace_back("placements_compared", placements);
  });
}

/// Returns whether the tensors of a policy that plans as if each device had a single memory are placed in both memories
/// of the devices. Throws InputError at `placement` if these placements are not possible.
bool places_turns(const PolicyRequest& request, const Reader& parameters,
                  const PlansForMachine& of_policy) {
  if (!places(parameters)) return false;
  const std::string way = parameters.text("placement"), start = "'placement: " + way + "' ";
  const bool several = of_policy.on.names.size() > 1;
  const std::string why = why_no_second(request.pricing.platform, of_policy.on);
  if (!why.empty())
    parameters.fail("placement", start + "needs a device with a second memory of its own: " + why +
                                     (several || request.sums_gradients ? "; use placement none"
                                                                        : "; use policy resident"));
  return true;
}

/// Returns whether a stage uses weights that an earlier stage holds. On a device that keeps all weights, a stage has no
/// tensor for them. So a placement of the stage's weights does not say in which memory they are.
bool ties_stages(const PolicyRequest& request) {
  return std::ranges::any_of(request.pricing.stages,
                             [](const Stage& stage) { return stage.tied_bytes > 0; });
}

/// Throws InputError at `placement` if gradients of replicas are summed and stages have tied weights.
void require_untied(const PolicyRequest& request, const Reader& parameters) {
  if (request.sums_gradients && ties_stages(request))
    parameters.fail("placement",
                    "replicas that keep all weights and sum gradients cannot have the placement '" +
                        parameters.text("placement") +
                        "' if two stages have the same weights: use placement none or backing, "
                        "stages whole, or replica streamed");
}

/// Returns the candidates of candidates_of_turns() for a device that keeps all weights.
std::vector<Candidate> candidates_held_once(const PolicyRequest& request, const Reader& parameters,
                                            const PlansForMachine& of_policy) {
  const auto held = std::make_shared<const HeldOnce>(request);
  std::vector<Candidate> candidates = candidates_of_turns(held->request, parameters, of_policy);
  for (Candidate& one : candidates)
    one = changed(std::move(one), [held](Settled& way) {
      if (way.plan) way.plan = [held, plan = std::move(way.plan)] { return plan(); };
    });
  return candidates;
}

/// Returns the mappings of alternatives_of_homes() and, if they have placements in two memories, another one with
/// `first_touch`: in a run of all replicas, it may be faster than `static`, whose placement is the fastest for one
/// replica.
std::vector<Value> placements_of_replicas(const PolicyRequest& request, const Reader& parameters,
                                          const PlansForMachine& of_policy) {
  if (!parameters.is_word("placement", compared)) return {};
  std::vector<Value> maps = alternatives_of_homes(request, parameters, of_policy);
  if (!turns_compared(request, parameters, of_policy).empty())
    maps.push_back(with_placements(parameters, {first_touch_placement}, {}).front());
  return maps;
}

/// Returns the key `placement`: `none`, `auto` or one of `ways`.
Field field_of(const char* summary, const Placements& ways) {
  Field placement =
      Key::choice("placement", {nowhere_else, compared}, summary).by_default(nowhere_else);
  placement.choices.insert(placement.choices.end(), ways.begin(), ways.end());
  return placement;
}

}  // namespace

Field placement_field() {
  Placements ways = placements_of_plans();
  ways.emplace_back(backing);
  return field_of(
      "which tensors are in the second memory; none: no tensors; backing: offloaded activations, "
      "which otherwise go to host memory; auto: the fastest of the other choices. auto leaves "
      "out the choices that move tensors (synchronous, asynchronous) and the hardware cache "
      "(cached). For a device with only one memory, the second memory is host memory. The "
      "default is auto if the device has two memories of its own and the cost model counts "
      "their bandwidths",
      ways);
}

bool compares_placements(const Field& placement) {
  return placement.summary == placement_field().summary;
}

Draft plan_of_placements(const PolicyRequest& request, const Reader& parameters,
                         const std::string& policy, const PlansForMachine& of_policy) {
  if (places(parameters)) require_untied(request, parameters);
  if (places(parameters) && request.sums_gradients)
    return plan_of_turns(HeldOnce(request).request, parameters, of_policy);
  if (places(parameters)) return placed_plan(request, parameters, policy);
  if (!parameters.is_word("placement", backing)) return of_policy.plan(request);
  backs(request, parameters);
  return backed_draft(request, of_policy.on, of_policy.plan);
}

std::vector<Candidate> candidates_of_placements(const PolicyRequest& request,
                                                const Reader& parameters, const std::string& policy,
                                                const PlansForMachine& of_policy) {
  const bool back = backs(request, parameters);
  if (!request.workload.training) return {};
  const CommonParameters common = read_common(request, parameters);
  const bool asked = places(parameters), compares = parameters.is_word("placement", compared);
  if (asked) require_untied(request, parameters);
  if ((asked || compares) && request.sums_gradients && !ties_stages(request))
    return candidates_held_once(request, parameters, of_policy);
  require_own_memories(request, parameters);
  std::vector<Candidate> placed;
  if (asked || (compares && !request.sums_gradients))
    placed = placed_candidates(
        request, common, policy,
        asked ? std::vector<std::string>{parameters.text("placement")} : placements_compared());
  if (asked && !placed.empty()) refuse_common_in_training(parameters);
  if (asked && (placed.empty() || !searches(parameters))) return placed;
  const Homes homes{!parameters.is_word("placement", backing), back};
  const auto count = static_cast<std::ptrdiff_t>(placed.size());
  std::vector<Candidate> all = candidates_of_homes(request, homes, of_policy, std::move(placed));
  if (asked) std::rotate(all.begin(), all.end() - count, all.end());
  return all;
}

std::vector<Value> alternatives_of_placements(const PolicyRequest& request,
                                              const Reader& parameters,
                                              const PlansForMachine& of_policy,
                                              std::vector<Value> maps) {
  if (request.workload.training && request.sums_gradients && !ties_stages(request))
    return placements_of_replicas(request, parameters, of_policy);
  if (request.workload.training) return placements_of_training(request, parameters);
  if (places(parameters) && !(searches(parameters) && can_place(request, parameters))) return {};
  if (!places(parameters) && !parameters.is_word("placement", compared)) return maps;
  if (maps.empty()) maps.push_back(parameters.map());
  for (Value& map : maps) map.set("placement", Value::make(std::string(nowhere_else)));
  if (places(parameters)) maps.insert(maps.begin(), parameters.map());
  if (places(parameters) || !can_place(request, parameters)) return maps;
  for (Value& map : with_placements(parameters, placements_compared(), {}))
    maps.push_back(std::move(map));
  return maps;
}

Field home_field() {
  Placements ways = placements_of_turns();
  ways.emplace(ways.begin(), backing);
  return field_of(
      "the home of the tensors that take turns on the device; none: host memory; backing: the device's second "
      "memory, into which the weights are loaded once; static, first_touch, all_slow: weights come from host memory, "
      "and kernels read and write tensors in both memories of the device, or only in the second memory; synchronous, "
      "asynchronous: tensors are also copied between the two memories during the run; cached: all tensors are in the "
      "second memory, and the first is a hardware cache of it; auto: the fastest of none, backing, static, "
      "first_touch and all_slow; default: auto if the device has a second memory that is not host memory",
      ways);
}

Field stages_field() {
  Placements ways = placements_of_turns();
  ways.emplace(ways.begin(), backing);
  return field_of(
      "the memories of each device in which tensors are; none: the first memory; static, first_touch: both memories; "
      "all_slow: the second memory; synchronous, asynchronous: tensors are also copied between the two memories during "
      "the run; cached: all tensors are in the second memory, and the first is a hardware cache of it; auto: the fastest "
      "of none, static, first_touch and all_slow; default: auto if each device has a second memory that is not host "
      "memory; backing: refused, because no tensors take turns",
      ways);
}

Draft plan_of_turns(const PolicyRequest& request, const Reader& parameters,
                    const PlansForMachine& of_policy) {
  if (places_turns(request, parameters, of_policy))
    return placed_turns_draft({request, parameters.text("placement"), of_policy});
  if (homes_of(request, parameters, of_policy).host) return of_policy.plan(request);
  return backed_draft(request, of_policy.on, of_policy.plan);
}

std::vector<Candidate> candidates_of_turns(const PolicyRequest& request, const Reader& parameters,
                                           const PlansForMachine& of_policy) {
  // The alternatives of the policy are the fixed plans.
  if (parameters.is_word("placement", nowhere_else) && !of_policy.fixed.empty()) return {};
  if (places_turns(request, parameters, of_policy))
    return placed_turns_candidates({request, parameters.text("placement"), of_policy});
  const Homes homes =
      offers_only_placed(request) ? Homes{} : homes_of(request, parameters, of_policy);
  std::vector<Candidate> placed;
  const auto turns = std::make_shared<Placements>(turns_compared(request, parameters, of_policy));
  if (!turns->empty()) placed.push_back(placed_turns_compared(request, of_policy, turns));
  const bool several = homes.host && (homes.backing || !placed.empty());
  std::vector<Candidate> candidates =
      candidates_of_homes(request, homes, of_policy, std::move(placed));
  const std::string names =
      nowhere_else + (homes.backing ? std::string(", ") + backing : std::string());
  if (several)
    for (Candidate& one : candidates) one = saying_compared(std::move(one), names, turns);
  return candidates;
}

std::vector<Value> alternatives_of_homes(const PolicyRequest& request, const Reader& parameters,
                                         const PlansForMachine& of_policy) {
  const Homes homes = homes_of(request, parameters, of_policy);
  const Placements turns = turns_compared(request, parameters, of_policy);
  if (!homes.host || (!homes.backing && turns.empty())) return {};
  Placements first = {nowhere_else};
  if (homes.backing) first.emplace_back(backing);
  return with_placements(parameters, std::move(first), turns);
}

}  // namespace sluice
