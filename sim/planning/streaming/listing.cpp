#include "planning/streaming/listing.hpp"

#include <utility>

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

}  // namespace

Draft list_rehearsed(const PolicyRequest& request, const CommonParameters& common,
                     const Rehearsal& rehearsal) {
  return list_within(request, rehearsal.streamed(), rehearsal.choice(),
                     rehearsed_program(request, common, rehearsal), {})
      .draft;
}

Draft list_as_asked(const PolicyRequest& request, const CommonParameters& common,
                    const StreamedChoice& choice) {
  const StreamedFit fit(request, common, choice);
  const StreamedCase streamed = streamed_case(request, common, choice.offload);
  const Program program = program_as_asked(request, common, streamed, choice);
  Draft draft = list_within(request, streamed, choice, program, fit.capacity()).draft;
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
