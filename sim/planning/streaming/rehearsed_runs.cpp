#include "planning/streaming/rehearsed_runs.hpp"

#include <algorithm>

#include "planning/streaming/ahead_values.hpp"
#include "planning/streaming/least_seconds.hpp"
#include "planning/streaming/rehearsal.hpp"
#include "workload/rounds.hpp"

namespace sluice {
namespace {

/// Each pair is a number of inputs and a number of results, of slots other than the computed slot. If a choice has
/// StreamedChoice::spares, each pair gives a value of `ahead` that is tried. This value is so large that every run of a
/// group has room for these inputs and results (RunLevels::more_for).
constexpr std::array<std::array<std::int64_t, 2>, 4> spared_at_first = {
    {{1, 0}, {1, 1}, {2, 2}, {7, 7}}};
/// The shares of the weights that stay are tried in multiples of 1 / 8.
constexpr std::int64_t shares_that_stay = 8;

}  // namespace

RehearsedChoices::RehearsedChoices(const PolicyRequest& request, const CommonParameters& common,
                                   const StreamedKeys& keys, bool offload)
    : streamed_(streamed_case(request, common, offload)),
      shared_(on_shared_links(request, common, streamed_)),
      keys_(keys),
      offload_(offload) {
  const std::int64_t micro_batches = request.workload.micro_batches_per_step();
  std::vector<std::int64_t> counts = in_flight_choices(micro_batches, 3);
  if (request.pricing.stages.size() == 1) counts = {micro_batches};
  const bool short_passes = streamed_.may_repeat && micro_batches > longest_step_with_long_passes;
  const std::int64_t longest = short_passes ? longest_round : micro_batches;
  std::erase_if(counts, [&](std::int64_t count) { return count > longest; });
  if (counts.empty()) counts = {longest};
  if (keys.in_flight) counts = {*keys.in_flight};
  std::vector<std::vector<bool>> sets = {{}};
  if (offload && !keys.offload) sets = boundaries_that_stay(streamed_);
  for (const std::vector<bool>& stay : sets)
    for (const std::int64_t in_flight : counts) add(in_flight, stay);
}

void RehearsedChoices::add(std::int64_t in_flight, const std::vector<bool>& boundaries_stay) {
  ChoicesInFlight some{in_flight, boundaries_stay};
  const auto pieces = static_cast<std::int64_t>(this->pieces(in_flight).size());
  const std::vector<BufferCount> buffers = this->buffers();
  for (StreamedChoice& choice : residencies({.in_flight = in_flight,
                                .offload = offload_,
                                .boundaries_stay = boundaries_stay,
                                .prefetch = keys_.prefetch})) {
    const auto values = static_cast<std::int64_t>(aheads(choice).size());
    for (const BufferCount& one : buffers)
      some.count +=
          pieces * (values + (one.spares ? static_cast<std::int64_t>(spared_at_first.size()) : 0));
    const std::int64_t least = least_room(streamed_, choice);
    some.staying.push_back({std::move(choice), least});
  }
  all_.push_back(std::move(some));
}

/// Returns `choice` with each set of weights that stay, from all weights down to none.
std::vector<StreamedChoice> RehearsedChoices::residencies(const StreamedChoice& choice) const {
  std::vector<StreamedChoice> all;
  const auto add = [&](std::vector<std::int64_t> resident) {
    all.push_back(choice);
    all.back().resident = std::move(resident);
  };
  if (keys_.resident.stays) {
    add(asked_to_stay(streamed_, keys_.resident));
    return all;
  }
  // Weights that take turns are loaded several times before the simulation ends.
  const bool repeats = streamed_.groups.size() > 1 &&
                       passes(choice.in_flight) * static_cast<double>(streamed_.steps) > 1;
  for (std::int64_t share = repeats ? shares_that_stay : 0; share > 0; --share)
    for (const ResidentOrder order : {ResidentOrder::by_need, ResidentOrder::by_work}) {
      if (order == ResidentOrder::by_work && share == shares_that_stay) continue;
      add(resident_weights(
          streamed_, choice, order,
          static_cast<std::int64_t>(static_cast<double>(streamed_.weights()) *
                                    static_cast<double>(share) / shares_that_stay)));
    }
  add({});
  return all;
}

std::int64_t RehearsedChoices::most_buffers() const {
  return keys_.buffers.value_or(std::ranges::max(buffers(), {}, &BufferCount::most).most);
}

double RehearsedChoices::passes(std::int64_t in_flight) const {
  return static_cast<double>(passes_per_step(streamed_.micro_batches, in_flight));
}

std::vector<std::int64_t> RehearsedChoices::pieces(std::int64_t in_flight) const {
  if (keys_.piece) return {*keys_.piece};
  return piece_sizes(streamed_, passes(in_flight));
}

std::vector<std::int64_t> RehearsedChoices::aheads(const StreamedChoice& choice) const {
  return ahead_values(streamed_, choice, replayed(), keys_.ahead);
}

double RehearsedChoices::at_least(StayingWeights& staying) const {
  if (!staying.at_least)
    staying.at_least = std::max(seconds_at_least(streamed_, staying.choice, most_buffers()),
                                shared_ ? replicas_at_least(*shared_, staying.choice) : 0);
  return *staying.at_least;
}

std::vector<RehearsedRuns>& RehearsedChoices::by_buffers(StayingWeights& staying) const {
  if (!staying.by_buffers.empty()) return staying.by_buffers;
  const std::vector<std::int64_t> values = aheads(staying.choice);
  for (const BufferCount& buffers : this->buffers())
    for (const std::int64_t piece : pieces(staying.choice.in_flight)) {
      RehearsedRuns some{buffers, piece, 0, {}};
      const StreamedChoice choice = some.choice(staying);
      const std::vector<SomeRounds> shorter = shorter_steps(streamed_, choice);
      const Rehearsal rehearsal(streamed_, choice,
                                shorter.empty() ? std::nullopt : std::optional(shorter.front()));
      some.least = rehearsal.bytes_with(0);
      std::vector<std::int64_t> all = values;
      for (const auto& [inputs, results] : spared_at_first)
        if (buffers.spares) all.push_back(rehearsal.levels().more_for(inputs, results));
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
      for (const std::int64_t ahead : all) some.runs.push_back({ahead});
      staying.by_buffers.push_back(std::move(some));
    }
  return staying.by_buffers;
}

StreamedChoice RehearsedRuns::choice(const StayingWeights& staying, std::int64_t ahead) const {
  StreamedChoice choice = staying.choice;
  choice.buffers = buffers.most;
  choice.spares = buffers.spares;
  choice.inputs_cross = buffers.inputs_cross;
  choice.inputs_first = buffers.inputs_first;
  choice.piece = piece;
  choice.ahead = ahead;
  return choice;
}

}  // namespace sluice
