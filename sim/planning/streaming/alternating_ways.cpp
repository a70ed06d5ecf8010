#include "planning/streaming/alternating_ways.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>

#include "base/quantity.hpp"
#include "planning/program_listing.hpp"
#include "planning/run_seconds.hpp"

namespace sluice {

namespace {

/// The numbers of answers, or parts of an answer, for which the device keeps room.
constexpr std::array<std::int64_t, 4> buffers_tried = {2, 4, 8, 16};
/// The room for early loads is divided into this many equal steps.
constexpr std::int64_t steps_of_room = 4;
constexpr std::int64_t most_slots = 10'000;  ///< the most slots of a step

/// Returns a lower bound of the seconds of every plan with this shape. All micro-batches are computed. Weights are
/// loaded in each pass. The first answers are computed after the front groups of the first pass, and all answers are
/// saved after this.
double at_least(const StreamedCase& streamed, const AlternatingShape& shape) {
  const auto steps = static_cast<double>(streamed.steps);
  const double samples = steps * static_cast<double>(streamed.micro_batches);
  const std::int64_t passes = (streamed.micro_batches + shape.in_flight - 1) / shape.in_flight;
  double compute = 0, front = 0, loads = 0, saves = 0;
  for (std::size_t g = 0; g < streamed.groups.size(); ++g) {
    const StreamedCase::Group& group = streamed.groups[g];
    const bool last = g + 1 == streamed.groups.size();
    const std::int64_t answer = last ? group.bytes.output : group.bytes.answer;
    compute += group.compute_s;
    if (g < shape.first_back) front += group.compute_s;
    if (group.bytes.weights > 0) loads += streamed.down.seconds(group.bytes.weights);
    if (answer > 0 && streamed.returns_answers) saves += streamed.up.seconds(answer);
  }
  return std::max({samples * compute, steps * static_cast<double>(passes) * loads,
                   static_cast<double>(shape.in_flight) * front + samples * saves});
}

/// Returns the plan in which early loads stay within `room`, and the whole run stays within `room`, too. Sets `most` to
/// the bytes that all early loads need.
Plan plan_within(const AlternatingCase& alternating, const AlternatingShape& shape,
                 const Program& program, std::optional<std::int64_t> room,
                 std::int64_t* most = nullptr) {
  const std::int64_t micro_batches = alternating.streamed.micro_batches;
  const std::int64_t passes = (micro_batches + shape.in_flight - 1) / shape.in_flight;
  Draft draft = list_program({.request = alternating.request,
                              .program = program,
                              .name = "streamed",
                              .capacity = room,
                              .facts = {{"in_flight", shape.in_flight}, {"passes_per_step", passes}}},
                             most);
  Plan plan = finish(std::move(draft), alternating.request);
  if (room) stay_within(plan, alternating.common.device.name, *room);
  return plan;
}

/// Simulates the plans that fit, beginning with the plan that has the most room for early loads.
void simulate(const AlternatingCase& alternating, const AlternatingShape& shape,
              const std::shared_ptr<const void>& context,
              const std::function<void(const Settled&)>& settled) {
  const auto program = [alternating, shape] {
    return alternating_program(alternating.request, alternating.common, alternating.streamed,
                               shape);
  };
  const Program step = program();
  const std::int64_t least = step.peak();
  if (getenv("DBG")) fprintf(stderr, "DBG? groups %zu n %ld b %ld least %.1f\n", alternating.streamed.groups.size(), shape.in_flight, shape.buffers, least/1e6);
  if (alternating.capacity && least > *alternating.capacity) return;
  std::int64_t most = 0;
  plan_within(alternating, shape, step, {}, &most);
  if (getenv("DBG")) fprintf(stderr, "DBG groups %zu back %zu n %ld b %ld least %.1f most %.1f MB at_least %.1f\n", alternating.streamed.groups.size(), shape.first_back, shape.in_flight, shape.buffers, least/1e6, most/1e6, 1e3*at_least(alternating.streamed, shape));
  for (std::int64_t part = steps_of_room; part >= 0; --part) {
    const std::int64_t room = least + (most - least) / steps_of_room * part;
    if (alternating.capacity && room > *alternating.capacity) continue;
    if (getenv("DBG")) fprintf(stderr, "DBG   room %.1f: %.1f ms\n", room/1e6, 1e3*run_seconds(plan_within(alternating, shape, step, room)));
    const StreamedChoice choice{.in_flight = shape.in_flight, .buffers = shape.buffers};
    settled({run_seconds(plan_within(alternating, shape, step, room)),
             choice.text(alternating.streamed.groups.size()) + "; group " +
                 alternating.request.pricing.stages[shape.first_back].name +
                 " and later groups alternate with the next pass; stays within " +
                 format_bytes(room),
             [alternating, shape, program, room, context] {
               return plan_within(alternating, shape, program(), room);
             }});
  }
}

}  // namespace

std::vector<Candidate> alternating_candidates(const AlternatingCase& alternating,
                                              std::int64_t in_flight,
                                              const std::shared_ptr<const void>& context) {
  const StreamedKeys& keys = alternating.keys;
  const StreamedCase& streamed = alternating.streamed;
  const std::size_t first_back = first_back_group(streamed);
  const auto groups = static_cast<std::int64_t>(streamed.groups.size());
  if (first_back == 0 || in_flight >= streamed.micro_batches || !streamed.overlap ||
      keys.prefetch || keys.ahead || keys.resident.stays || keys.piece.value_or(0) > 0 ||
      streamed.micro_batches > most_slots / groups)
    return {};
  std::vector<Candidate> candidates;
  for (const std::int64_t buffers : buffers_tried) {
    if (buffers > keys.buffers.value_or(buffers)) continue;
    const AlternatingShape shape{first_back, in_flight, buffers};
    candidates.push_back(
        {.at_least = at_least(streamed, shape),
         .ways = steps_of_room + 1,
         .simulate = [alternating, shape, context](double, const auto& settled) {
           simulate(alternating, shape, context, settled);
         }});
  }
  return candidates;
}

}  // namespace sluice
