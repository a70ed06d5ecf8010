#include "planning/streaming/residency.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "document/stage_range.hpp"

namespace sluice {

namespace {

constexpr std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max() / 8;

/// Adds the bytes of group g's weights to beside[g], the bytes of other tensors that the device holds while the group
/// runs. Returns by how many bytes this sum exceeds `line` (see by_need): at least 0, and at most the bytes of the
/// weights.
std::int64_t above(const StreamedCase& streamed, const std::vector<std::int64_t>& beside,
                   std::int64_t line, std::size_t g) {
  const std::int64_t weights = streamed.groups[g].bytes.weights;
  return std::clamp<std::int64_t>(beside[g] + weights - line, 0, weights);
}

// Chooses how many bytes of each group's weights stay. If R bytes of weights stay in total, and x of them belong to a
// group, the device needs this sum while the group runs: (the group's other bytes) + (its weights) - x + R. The
// greatest of the groups' sums is smallest if the sum is the same for all groups with x > 0. This common sum minus R is
// called the *line*.
std::vector<std::int64_t> by_need(const StreamedCase& streamed, const StreamedChoice& choice,
                                  std::int64_t bytes) {
  const std::vector<std::int64_t> beside = bytes_beside_weights(streamed, choice);
  // In the loop, with `high` as the line, the sum of above() of all groups is at most `bytes`.
  std::int64_t high = 0, low = -1;
  for (std::size_t g = 0; g < beside.size(); ++g)
    high = std::max(high, beside[g] + streamed.groups[g].bytes.weights);
  while (high - low > 1) {
    const std::int64_t line = low + (high - low) / 2;
    std::int64_t out = 0;
    for (std::size_t g = 0; g < beside.size(); ++g) out += above(streamed, beside, line, g);
    (out <= bytes ? high : low) = line;
  }
  std::vector<std::int64_t> resident;
  for (std::size_t g = 0; g < beside.size(); ++g)
    resident.push_back(above(streamed, beside, high, g));
  return resident;
}

std::vector<std::int64_t> by_work(const StreamedCase& streamed, std::int64_t bytes) {
  std::vector<std::size_t> order(streamed.groups.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const StreamedCase::Group &one = streamed.groups[a], &other = streamed.groups[b];
    return one.compute_s * static_cast<double>(other.bytes.weights) <
           other.compute_s * static_cast<double>(one.bytes.weights);
  });
  std::vector<std::int64_t> resident(order.size(), 0);
  for (const std::size_t g : order) {
    resident[g] = std::min(bytes, streamed.groups[g].bytes.weights);
    bytes -= resident[g];
  }
  return resident;
}

}  // namespace

std::vector<std::int64_t> bytes_beside_weights(const StreamedCase& streamed,
                                               const StreamedChoice& choice) {
  std::vector<std::int64_t> bytes;
  const std::size_t groups = streamed.groups.size();
  for (std::size_t g = 0; g < groups; ++g) {
    const StageBytes& stage = streamed.groups[g].bytes;
    __extension__ using Wide = __int128;  // the factors fit in 64 bits, the products may not
    const Wide in = g == 0 || choice.offloads(g - 1) ? 1 : choice.in_flight,
               out = g + 1 == groups || choice.offloads(g) ? 1 : choice.in_flight;
    const Wide crossing =
        std::max(in * stage.input + stage.output, stage.input + out * stage.output) +
        static_cast<Wide>(choice.in_flight) * stage.around;
    const Wide all = crossing + stage.answer + stage.workspace + streamed.caches;
    bytes.push_back(all > most_bytes ? most_bytes : static_cast<std::int64_t>(all));
  }
  return bytes;
}

std::vector<std::int64_t> resident_weights(const StreamedCase& streamed,
                                           const StreamedChoice& choice, ResidentOrder order,
                                           std::int64_t bytes) {
  return order == ResidentOrder::by_need ? by_need(streamed, choice, bytes)
                                         : by_work(streamed, bytes);
}

std::int64_t least_room(const StreamedCase& streamed, const StreamedChoice& choice) {
  const std::vector<std::int64_t> beside = bytes_beside_weights(streamed, choice);
  __extension__ using Wide = __int128;  // the terms fit in 64 bits, their sum may not
  Wide most = 0;
  for (std::size_t g = 0; g < beside.size(); ++g)
    most = std::max(most, static_cast<Wide>(beside[g]) + streamed.groups[g].bytes.weights -
                              choice.resident_of(g));
  most += choice.resident_bytes();
  constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max();
  return most > limit ? limit : static_cast<std::int64_t>(most);
}

std::vector<std::int64_t> asked_to_stay(const StreamedCase& streamed, const ResidentKey& key) {
  std::vector<std::int64_t> bytes(streamed.groups.size(), 0);
  for (std::size_t g = 0; key.stays && g < bytes.size(); ++g)
    if ((*key.stays)[g]) bytes[g] = streamed.groups[g].bytes.weights;
  return bytes;
}

std::vector<std::vector<bool>> boundaries_that_stay(const StreamedCase& streamed) {
  constexpr int most_halvings = 3;
  std::vector<std::vector<bool>> sets = {{}};
  std::int64_t largest = 0;
  for (std::size_t g = 0; g + 1 < streamed.groups.size(); ++g)
    largest = std::max(largest, streamed.groups[g].bytes.output);
  for (int halvings = 1; halvings <= most_halvings; ++halvings) {
    std::vector<bool> stay(streamed.groups.size(), false);
    for (std::size_t g = 0; g + 1 < stay.size(); ++g)
      stay[g] =
          streamed.groups[g].hands_over && streamed.groups[g].bytes.output <= largest >> halvings;
    if (std::ranges::count(stay, true) > 0 && stay != sets.back()) sets.push_back(std::move(stay));
  }
  return sets;
}

ResidentKey resident_key(const Reader& parameters, const std::vector<Stage>& stages, bool cut_open,
                         const std::string& name) {
  ResidentKey key;
  if (!parameters.has(name) || parameters.is_word(name, "auto")) return key;
  const bool all = parameters.is_word(name, "all");
  key.stays = std::vector<bool>(stages.size(), all);
  if (all || parameters.is_word(name, "none")) return key;
  if (cut_open)
    parameters.fail(
        name, "'" + name +
                  "' names stages, but the scenario does not cut the model: add the key 'stages', "
                  "or use all, none or auto");
  std::vector<std::string> names;
  for (const Stage& stage : stages) names.push_back(stage.name);
  for (const Value& item : parameters.value(name)->items()) {
    const StageRange range = named_stages(item, names);
    for (std::size_t s = range.first; s <= range.last; ++s) (*key.stays)[s] = true;
  }
  return key;
}

}  // namespace sluice
