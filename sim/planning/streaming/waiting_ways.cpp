#include "planning/streaming/waiting_ways.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/quantity.hpp"
#include "planning/placement/turns/shown_plans.hpp"
#include "planning/run_seconds.hpp"
#include "planning/streaming/fit.hpp"
#include "planning/streaming/listing.hpp"
#include "planning/streaming/program.hpp"

namespace sluice {

namespace {

/// How much room early loads may use: these shares of the bytes of all weights are tried. The limit of a plan is this
/// room plus the bytes that the plan needs without early loads.
constexpr std::array<double, 20> rooms_of_weights = {
    0.0,      1.0 / 64, 1.0 / 32, 3.0 / 64, 1.0 / 16, 5.0 / 64, 3.0 / 32,
    7.0 / 64, 1.0 / 8,  9.0 / 64, 5.0 / 32, 3.0 / 16, 7.0 / 32, 1.0 / 4,
    5.0 / 16, 3.0 / 8,  1.0 / 2,  5.0 / 8,  3.0 / 4,  1.0};
/// The values of `prefetch` that are tried. With greater values, early weights would take the room that results and
/// inputs need.
constexpr std::array<std::int64_t, 3> prefetched = {1, 2, 4};
/// Plans whose actions may wait for memory are tried if a step has at most `most_slots` slots, and all steps together
/// have at most `most_slots_of_run` slots.
constexpr std::int64_t most_slots = 200, most_slots_of_run = 2'000;
constexpr std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();

/// Returns how many limits for early loads are tried. For a single group, limit 0 has no room for early loads, and each
/// further limit has room for one more input or answer (room_of()). With b buffers, at most b - 1 inputs and b - 1
/// answers need this room. So 2 b - 1 limits are tried, or 20 if there are more than 10 buffers.
std::size_t rooms_tried(const WaitingCase& waiting) {
  if (waiting.streamed.groups.size() > 1) return rooms_of_weights.size();
  const std::int64_t most = std::min<std::int64_t>(waiting.choice.buffers, rooms_of_weights.size());
  return std::min(rooms_of_weights.size(), static_cast<std::size_t>(2 * most - 1));
}

/// Returns the bytes of `count` tensors, but at most 2^63 - 1.
std::int64_t bytes_of(std::int64_t count, std::int64_t bytes) {
  return count > 0 && bytes > most_bytes / count ? most_bytes : count * bytes;
}

/// The limits for early loads that are tried have the numbers 0, 1, 2, ... (rooms_tried()). Returns the bytes for which
/// limit `n` has room. The weights of a single group are never loaded early, so there the limit has room for `n` more
/// inputs, but at most for as many as there are buffers beside the first. If `n` is greater than this number of inputs,
/// the limit also has room for answers, so that inputs and answers together are `n`. The result is at most 2^63 - 1.
std::int64_t room_of(const WaitingCase& waiting, std::size_t n) {
  const StreamedCase& streamed = waiting.streamed;
  if (streamed.groups.size() > 1)
    return static_cast<std::int64_t>(rooms_of_weights[n] * static_cast<double>(streamed.weights()));
  const std::int64_t inputs = std::min(static_cast<std::int64_t>(n), waiting.choice.buffers - 1);
  const std::int64_t more = bytes_of(inputs, streamed.groups[0].bytes.input);
  const std::int64_t answers =
      bytes_of(static_cast<std::int64_t>(n) - inputs, streamed.groups[0].bytes.output);
  return answers > most_bytes - more ? most_bytes : more + answers;
}

/// Simulates the plans that fit, the one with the most bytes for early loads first.
void simulate(const WaitingCase& waiting, const std::shared_ptr<const void>& context,
              const std::function<void(const Settled&)>& settled) {
  const StreamedFit fit(waiting.request, waiting.common, waiting.choice);
  const std::int64_t least = fit.peak(waiting.choice.in_flight);
  const auto program = std::make_shared<const Program>(
      program_as_asked(waiting.request, waiting.common, waiting.streamed, waiting.choice));
  const std::int64_t capacity = waiting.capacity.value_or(most_bytes);
  const bool limited = waiting.streamed.room_changes_runs();
  std::int64_t same_from = most_bytes;
  for (std::size_t n = rooms_tried(waiting); n-- > 0;) {
    const std::int64_t more = room_of(waiting, n);
    if (least > capacity || more > capacity - least) continue;
    const std::int64_t room = least + more;
    // With two different values of `room`, the list of loads may be the same. Then only the first value is simulated,
    // except if the run has to stay within its room.
    if (!limited && room >= same_from) continue;
    const auto plan = [waiting, context, program, limited, room] {
      ListedDraft listed =
          list_within(waiting.request, waiting.streamed, waiting.choice, *program, room);
      Plan made = finish(std::move(listed.draft), waiting.request);
      if (limited) stay_within(made, waiting.common.device.name, room);
      return std::pair(std::move(made), listed.used);
    };
    // The run of this plan is simulated only on a real machine. If the platform is a shown machine, the plan is first
    // changed for the real machine, and the changed plan is simulated.
    const auto seconds = [&] {
      const auto [listed, used] = plan();
      same_from = used;
      return waiting.request.real_machine ? 0 : run_seconds(listed);
    };
    // Within its room, a plan has the same run in every memory that has this room. `same_from` is used only for plans that
    // are not limited, and their seconds are never remembered.
    ShownPlans* const known = limited ? waiting.request.shown_plans : nullptr;
    settled({known ? known->streamed.waiting(waiting.choice, room, seconds) : seconds(),
             waiting.choice.text(waiting.streamed.groups.size()) +
                 (limited ? "; stays within " : "; loads ahead within ") + format_bytes(room),
             [plan] { return plan().first; }});
  }
}

}  // namespace

std::vector<Candidate> waiting_candidates(const WaitingCase& waiting,
                                          const std::shared_ptr<const void>& context) {
  const StreamedCase& streamed = waiting.streamed;
  const auto groups = static_cast<std::int64_t>(streamed.groups.size());
  // With several groups, there are many candidates. If loads and saves share a link, each candidate takes long to
  // simulate. So no candidates are returned if both are true.
  if (!streamed.overlap || (streamed.shared_link && groups > 1) || streamed.host_limited ||
      streamed.micro_batches > most_slots / groups ||
      streamed.micro_batches * groups > most_slots_of_run / streamed.steps)
    return {};
  std::vector<std::int64_t> pieces = {waiting.choice.piece};
  if (waiting.smaller_pieces && pieces[0] / 4 >= 4096) pieces.push_back(pieces[0] / 4);
  std::vector<std::int64_t> groups_ahead(prefetched.begin(), prefetched.end());
  // The weights of a single group are never loaded early, so all values of `prefetch` lead to the same plans.
  if (groups == 1) groups_ahead = {1};
  if (waiting.choice.prefetch) groups_ahead = {*waiting.choice.prefetch};
  std::vector<Candidate> candidates;
  for (const std::int64_t piece : pieces)
    for (const std::int64_t prefetch : groups_ahead) {
      WaitingCase one = waiting;
      one.choice.piece = piece;
      one.choice.prefetch = prefetch;
      candidates.push_back({.at_least = waiting.at_least,
                            .ways = static_cast<std::int64_t>(rooms_tried(waiting)),
                            .simulate = [one, context](double, const auto& settled) {
                              simulate(one, context, settled);
                            }});
    }
  return candidates;
}

}  // namespace sluice
