#include "planning/streaming/alternating_ways.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/quantity.hpp"
#include "planning/placement/turns/shown_plans.hpp"
#include "planning/program_listing.hpp"
#include "planning/run_seconds.hpp"
#include "planning/training/step_clock.hpp"

namespace sluice {

namespace {

/// The numbers of answers, or of parts of answers, that may be on the device at the same time. Each of them is tried.
constexpr std::array<std::int64_t, 4> buffers_tried = {2, 4, 8, 16};
/// How much room early loads may use: all these numbers are tried. Each is a share of the room that all early loads
/// need, in units of 1 / `whole_room`.
constexpr std::array<std::int64_t, 7> rooms_tried = {32, 16, 8, 6, 4, 2, 0};
constexpr std::int64_t whole_room = 32;
/// Alternating passes are tried only if all steps together have at most this many slots.
constexpr std::int64_t most_slots = 10'000;

/// Returns a lower bound of the seconds of every plan with this shape. The bound is the greatest of three
/// sums: all computations, the loads of weights in all passes, and the first pass of the front groups followed by all
/// saves of answers. In the first pass, each group waits for its weights and for the weights of all earlier groups. All
/// three sums contain the latency of a load, and the last sum also contains the latency of a save.
double at_least(const StreamedCase& streamed, const AlternatingShape& shape) {
  const auto steps = static_cast<double>(streamed.steps);
  const double samples = steps * static_cast<double>(streamed.micro_batches);
  const std::int64_t passes = passes_per_step(streamed.micro_batches, shape.in_flight);
  double compute = 0, loads = 0, saves = 0, front_ends = 0;
  for (std::size_t g = 0; g < streamed.groups.size(); ++g) {
    const StreamedCase::Group& group = streamed.groups[g];
    compute += group.compute_s;
    if (group.bytes.weights > 0) loads += streamed.down.seconds(group.bytes.weights);
    saves += streamed.save_s(g);
    if (g < shape.first_back)
      front_ends =
          std::max(front_ends, loads) + static_cast<double>(shape.in_flight) * group.compute_s;
  }
  return std::max({streamed.down.latency_s + samples * compute,
                   steps * static_cast<double>(passes) * loads + streamed.down.latency_s,
                   streamed.down.latency_s + front_ends + samples * saves + streamed.up.latency_s});
}

/// Returns whether the saves of the answers take longer than the computation of the back groups. Otherwise this
/// computation hides the saves, and alternation gains nothing.
bool saves_are_long(const StreamedCase& streamed, std::size_t first_back) {
  double compute = 0, saves = 0;
  for (std::size_t g = first_back; g < streamed.groups.size(); ++g) {
    compute += streamed.groups[g].compute_s;
    saves += streamed.save_s(g);
  }
  return saves > compute;
}

/// Returns the plan that, with its early loads, needs at most `room` bytes on the device.
Plan plan_within(const AlternatingCase& alternating, const AlternatingShape& shape,
                 const Program& program, std::int64_t room) {
  const std::int64_t passes = passes_per_step(alternating.streamed.micro_batches, shape.in_flight);
  Plan plan =
      finish(list_program({.request = alternating.request,
                           .program = program,
                           .name = "streamed",
                           .capacity = room,
                           .loads_within = true,
                           .facts = {{"in_flight", shape.in_flight}, {"passes_per_step", passes}}}),
             alternating.request);
  stay_within(plan, alternating.common.device.name, room);
  return plan;
}

/// The places of a program's loads. place_loads() lists a load early only where the device has room for it within
/// `room` bytes.
struct PlacedLoads {
  std::vector<LoadPlace> places;
  std::int64_t most = 0;  ///< the most bytes on the device
};
PlacedLoads place_loads(const Program& program, std::optional<std::int64_t> room) {
  PlacedLoads placed;
  LoadPlaces places(program.bytes(), room);
  for (const Program::Load& load : program.loads)
    placed.places.push_back(places.add({.bytes = program.instances[load.instance].bytes,
                                        .needed = load.needed,
                                        .earliest = load.earliest,
                                        .after = load.after,
                                        .within = true}));
  placed.most = places.most();
  return placed;
}

/// Simulates those plans that fit and perhaps take less than `worth` seconds. It begins with the plan that has the most
/// room for early loads.
void simulate(const AlternatingCase& alternating, const AlternatingShape& shape,
              const std::shared_ptr<const void>& context, double worth,
              const std::function<void(const Settled&)>& settled) {
  const auto program = [alternating, shape] {
    return alternating_program(alternating.request, alternating.common, alternating.streamed,
                               shape);
  };
  const Program step = program();
  const std::int64_t least = step.peak();
  if (alternating.capacity && least > *alternating.capacity) return;
  const StepClock clock(step, alternating.request.pricing.platform, step.devices, step.rounds,
                        nullptr);
  const std::int64_t most = place_loads(step, {}).most;
  for (const std::int64_t share : rooms_tried) {
    const std::int64_t room = least + (most - least) / whole_room * share;
    if (alternating.capacity && room > *alternating.capacity) continue;
    if (clock.at_least(step.loads, place_loads(step, room).places) >= worth * (1 - 1e-12)) continue;
    const StreamedChoice choice{.in_flight = shape.in_flight, .buffers = shape.buffers};
    const auto simulated = [&] { return run_seconds(plan_within(alternating, shape, step, room)); };
    ShownPlans* const known = alternating.request.shown_plans;
    const double seconds =
        known ? known->streamed.alternating(choice, room, simulated) : simulated();
    worth = std::min(worth, seconds);
    settled({seconds,
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

double alternating_at_least(const StreamedCase& streamed, std::int64_t in_flight) {
  const std::size_t first_back = first_back_group(streamed);
  if (first_back == 0 || in_flight >= streamed.micro_batches)
    return std::numeric_limits<double>::infinity();
  return at_least(streamed, {.first_back = first_back, .in_flight = in_flight});
}

std::vector<Candidate> alternating_candidates(const AlternatingCase& alternating,
                                              std::int64_t in_flight,
                                              const std::shared_ptr<const void>& context) {
  const StreamedKeys& keys = alternating.keys;
  const StreamedCase& streamed = alternating.streamed;
  const std::size_t first_back = first_back_group(streamed);
  const auto groups = static_cast<std::int64_t>(streamed.groups.size());
  if (first_back == 0 || in_flight >= streamed.micro_batches || !streamed.overlap ||
      alternating.request.real_machine || keys.prefetch || keys.ahead || keys.resident.stays ||
      keys.piece.value_or(0) > 0 || streamed.micro_batches * groups > most_slots / streamed.steps ||
      !saves_are_long(streamed, first_back))
    return {};
  std::vector<Candidate> candidates;
  for (const std::int64_t buffers : buffers_tried) {
    if (buffers > keys.buffers.value_or(buffers)) continue;
    const AlternatingShape shape{first_back, in_flight, buffers};
    candidates.push_back(
        {.at_least = at_least(streamed, shape),
         .ways = static_cast<std::int64_t>(rooms_tried.size()),
         .simulate = [alternating, shape, context](double worth, const auto& settled) {
           simulate(alternating, shape, context, worth, settled);
         }});
  }
  return candidates;
}

}  // namespace sluice
