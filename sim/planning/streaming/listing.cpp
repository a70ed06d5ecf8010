#include "planning/streaming/listing.hpp"

#include <algorithm>
#include <utility>

#include "plan/passes/fold.hpp"
#include "planning/program_listing.hpp"
#include "planning/streaming/fit.hpp"
#include "planning/streaming/program.hpp"

namespace sluice {
namespace {

std::vector<Fact> facts_of(const StreamedCase& streamed, const StreamedChoice& choice) {
  const std::int64_t passes = passes_per_step(streamed.micro_batches, choice.in_flight);
  std::vector<Fact> facts = {{"in_flight", choice.in_flight}, {"passes_per_step", passes}};
  for (std::size_t g = 0; g < streamed.groups.size(); ++g) {
    const bool stays =
        streamed.groups.size() == 1 || choice.resident_of(g) == streamed.groups[g].bytes.weights;
    facts.push_back(
        Fact("weight_passes", stays ? 1 : passes * streamed.steps).said_of(std::to_string(g)));
  }
  if (choice.resident_bytes() > 0)
    facts.push_back({"resident_bytes", choice.resident_bytes(), "byte"});
  return facts;
}

/// Returns how many of these actions are loads that are listed before an earlier slot than the one that needs them.
std::int64_t early_loads(const Plan& plan, std::uint32_t begin, std::uint32_t end) {
  std::int64_t early = 0;
  for (std::uint32_t a = begin; a < end; ++a) {
    if (plan.actions[a].kind != ActionKind::load) continue;
    std::uint32_t next = a;
    while (plan.actions[next].kind != ActionKind::forward) ++next;
    early += std::ranges::none_of(plan.actions[next].uses, [&](const Access& use) {
      return use.tensor == plan.actions[a].flow().tensor;
    });
  }
  return early;
}

/// `some` lists the first rounds of a step. Returns the plan of the whole step, whose body is the round `repeated`.
/// Returns nothing if this round and those behind it differ.
std::optional<Plan> with_repeated_round(const Plan& some, const RepeatedRound& repeated) {
  const Plan listed = without_dropped(some);
  const std::uint32_t begin = after_computations(listed, repeated.first_slot),
                      end = after_computations(listed, repeated.first_slot + repeated.slots);
  const std::int64_t more = repeated.times - repeated.listed;
  std::optional<Plan> plan =
      fold(listed, {begin, end - begin, repeated.compared}, repeated.compared + more);
  if (!plan) return plan;
  for (Fact& fact : plan->facts)
    if (fact.name == "loads_listed_ahead")
      fact = {fact.name,
              fact.number()->value + static_cast<double>(more * early_loads(listed, begin, end))};
  return plan;
}

}  // namespace

Draft list_rehearsed(const PolicyRequest& request, const CommonParameters& common,
                     const RehearsedStep& rehearsed) {
  const auto list = [&](const Rehearsal& rehearsal, const std::vector<RehearsedLoad>& loads) {
    return list_within(request, rehearsal.streamed(), rehearsal.choice(),
                       rehearsed_program(request, common, rehearsal, loads), {})
        .draft;
  };
  const Rehearsal& rehearsal = rehearsed.rehearsal();
  Draft draft = list(rehearsal, rehearsed.order().loads);
  if (!rehearsed.repeated()) return draft;
  if (std::optional<Plan> plan = with_repeated_round(draft.plan, *rehearsed.repeated())) {
    draft.plan = std::move(*plan);
    return draft;
  }
  const Rehearsal whole(rehearsal.streamed(), rehearsal.choice());
  return list(whole, whole.order().loads);
}

Draft list_as_asked(const PolicyRequest& request, const CommonParameters& common,
                    const StreamedChoice& choice) {
  const StreamedFit fit(request, common, choice);
  const StreamedCase streamed = streamed_case(request, common, choice.offload);
  const auto list = [&](const std::optional<SomeRounds>& shorter) {
    const Program program = program_as_asked(request, common, streamed, choice, shorter);
    return list_within(request, streamed, choice, program, fit.capacity()).draft;
  };
  for (const SomeRounds& shorter : shorter_steps(streamed, choice)) {
    Draft draft = list(shorter);
    std::optional<Plan> plan =
        with_repeated_round(draft.plan, repeated_round(streamed, choice, shorter));
    if (!plan) continue;
    draft.plan = std::move(*plan);
    fit.require(choice.in_flight, draft);
    return draft;
  }
  Draft draft = list({});
  fit.require(choice.in_flight, draft);
  return draft;
}

ListedDraft list_within(const PolicyRequest& request, const StreamedCase& streamed,
                        const StreamedChoice& choice, const Program& program,
                        std::optional<std::int64_t> room) {
  std::int64_t used = 0;
  Draft draft = list_program({.request = request,
                              .program = program,
                              .name = "streamed",
                              .overlap = streamed.overlap,
                              .capacity = room,
                              .facts = facts_of(streamed, choice),
                              .states_early_loads = true},
                             &used);
  return {std::move(draft), used};
}

}  // namespace sluice
