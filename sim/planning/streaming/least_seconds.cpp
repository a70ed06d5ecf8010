#include "planning/streaming/least_seconds.hpp"

#include <algorithm>
#include <array>

#include "planning/equal_replicas.hpp"

namespace sluice {

namespace {

constexpr std::size_t down_engine = RealCopies::down_engine, up_engine = RealCopies::up_engine;

double passes_of(const StreamedCase& streamed, const StreamedChoice& choice) {
  return static_cast<double>(passes_per_step(streamed.micro_batches, choice.in_flight));
}

/// The copies of a group's input and result, for one micro-batch.
struct GroupCopies {
  double in_s = 0, out_s = 0;
  /// The latencies of both copies.
  double latencies_s = 0;
  std::size_t in_engine = down_engine, out_engine = up_engine;  ///< see RealCopies
};

GroupCopies copies_of(const StreamedCase& streamed, const StreamedChoice& choice, std::size_t g) {
  const StageBytes& bytes = streamed.groups[g].bytes;
  const bool last = g + 1 == streamed.groups.size(), crosses = !last && choice.offloads(g);
  const bool saves = crosses || (streamed.returns_answers && (last || bytes.answer > 0));
  const std::int64_t saved = last || choice.offload ? bytes.output : bytes.answer;
  const CopyTime& in = g == 0 ? streamed.input_copy() : streamed.down;
  const CopyTime& out = crosses ? streamed.up : streamed.answer_copy();
  GroupCopies copies;
  const bool loads = g == 0 || choice.offloads(g - 1);
  if (loads) copies.in_s = in.seconds(bytes.input);
  if (saves) copies.out_s = out.seconds(saved);
  copies.latencies_s = (loads ? in.latency_s : 0) + (saves ? out.latency_s : 0);
  if (streamed.real && g == 0) copies.in_engine = streamed.real->inputs_engine;
  if (streamed.real && !crosses) copies.out_engine = streamed.real->answers_engine;
  return copies;
}

/// Returns the seconds of all loads of weights in the run.
double weight_seconds(const StreamedCase& streamed, const StreamedChoice& choice) {
  const double turns = streamed.groups.size() == 1
                           ? 1
                           : passes_of(streamed, choice) * static_cast<double>(streamed.steps);
  double seconds = 0;
  for (std::size_t g = 0; g < streamed.groups.size(); ++g) {
    const std::int64_t stays = choice.resident_of(g),
                       takes_turns = streamed.groups[g].bytes.weights - stays;
    if (stays > 0) seconds += streamed.down.seconds(stays);
    if (takes_turns > 0) seconds += turns * streamed.down.seconds(takes_turns);
  }
  return seconds;
}

/// Returns a lower bound of the seconds of the run: the seconds of all loads, and then the seconds of those
/// computations that must wait for the last loads. It is the second bound in the list at Rehearsal::at_least().
/// `loads_s` is the time of those loads in the run that use the copy engine of the weights. After this time, the
/// latency of the last load still passes.
double ending(const StreamedCase& streamed, const StreamedChoice& choice, double loads_s) {
  const double passes = passes_of(streamed, choice);
  const bool again = passes * static_cast<double>(streamed.steps) > 1;
  const auto count = static_cast<double>(streamed.in_last_pass(choice.in_flight));
  double later_loads = 0, later_runs = 0, least = loads_s;
  for (std::size_t g = streamed.groups.size(); g-- > 0;) {
    const StreamedCase::Group& group = streamed.groups[g];
    const GroupCopies copies = copies_of(streamed, choice, g);
    const bool input = (g == 0 || choice.offloads(g - 1)) && copies.in_engine == down_engine;
    // Weights that stay are loaded in the first pass only. If there is only one group, all its weights stay.
    const std::int64_t stays = choice.resident_of(g),
                       takes_turns =
                           streamed.groups.size() == 1 && again ? 0 : group.bytes.weights - stays;
    const double loads = (takes_turns > 0 ? streamed.down.seconds(takes_turns) : 0) +
                         (stays > 0 && !again ? streamed.down.seconds(stays) : 0) +
                         (input ? count * copies.in_s : 0);
    const double tail = (input ? 1 : count) * group.compute_s + later_runs;
    const double latency_s =
        input ? std::min(streamed.down.latency_s, streamed.input_copy().latency_s)
              : streamed.down.latency_s;
    if (loads > 0) least = std::max(least, loads_s - later_loads + latency_s + tail);
    later_loads += loads;
    later_runs += count * group.compute_s;
  }
  return least;
}

/// A lower bound of the time at which the weights of the first groups have arrived. add() adds the
/// weights of the next group.
class FirstWeights {
 public:
  explicit FirstWeights(const StreamedCase& streamed) : streamed_(streamed) {}
  void add(std::int64_t bytes) {
    if (bytes == 0) return;
    loaded_s_ += streamed_.down.seconds(bytes);
    if (!streamed_.real) return;
    begun_s_ += streamed_.real->begins.seconds(bytes);
    begun_bytes_ += bytes;
  }
  /// Returns a lower bound of the time at which two kinds of tensors have arrived: the weights that
  /// add() added, and `inputs` inputs of the model.
  double at_least(std::int64_t inputs) const {
    const std::optional<RealCopies>& real = streamed_.real;
    const std::int64_t input_bytes = streamed_.groups[0].bytes.input;
    if (!real)
      return loaded_s_ + static_cast<double>(inputs) * streamed_.down.seconds(input_bytes) +
             streamed_.down.latency_s;
    const double latency_s = begun_bytes_ > 0 ? real->begins.latency_s : 0;
    return std::max(
        {loaded_s_ + latency_s, begun_s_ + latency_s,
         static_cast<double>(begun_bytes_ + inputs * input_bytes) * real->shared_s_per_byte});
  }
  double begun_s() const { return begun_s_; }

 private:
  const StreamedCase& streamed_;
  double loaded_s_ = 0, begun_s_ = 0;
  std::int64_t begun_bytes_ = 0;
};

/// Returns a lower bound of the seconds of the groups from `first` on in a pass of `count` micro-batches, if some
/// boundaries are offloaded. Each group computes all its slots before the next group starts. Before group g computes,
/// one of its micro-batches has gone through all earlier groups: at each of these boundaries, its activation was saved
/// and then loaded. Another of its micro-batches goes through all later groups in the same way. So the groups take at
/// least the slots of any one group, one slot of each other group, and the save and the load at each boundary, with
/// their latencies.
double pass_at_least(const StreamedCase& streamed, const StreamedChoice& choice, std::size_t first,
                     double count) {
  double one_of_each = 0, most = 0;
  for (std::size_t g = first; g < streamed.groups.size(); ++g) {
    one_of_each += streamed.groups[g].compute_s;
    most = std::max(most, streamed.groups[g].compute_s);
    if (g == first || !choice.offloads(g - 1)) continue;
    one_of_each += copies_of(streamed, choice, g - 1).out_s + streamed.up.latency_s +
                   copies_of(streamed, choice, g).in_s + streamed.down.latency_s;
  }
  return one_of_each + (count - 1) * most;
}

/// Returns a lower bound of the seconds of all slots of a run if boundaries are offloaded.
double passes_at_least(const StreamedCase& streamed, const StreamedChoice& choice) {
  const double passes = passes_of(streamed, choice),
               mean = static_cast<double>(streamed.micro_batches) / passes;
  return static_cast<double>(streamed.steps) * passes * pass_at_least(streamed, choice, 0, mean);
}

/// Returns a lower bound of the seconds from the start of the run to the end of its last slot. If boundaries are
/// offloaded, the copy engine first loads all weights that stay, all weights of the first group, and an input. Only
/// then does it load the first activation for the second group, because this activation is made from the input. All
/// later groups of the first pass follow, and then the other passes. Returns 0 if this order is not certain.
double behind_weights_that_stay(const StreamedCase& streamed, const StreamedChoice& choice) {
  if (!choice.offloads(0) || streamed.real || streamed.groups.size() < 2 ||
      !kept_in_prologue(streamed))
    return 0;
  const StreamedCase::Group& first = streamed.groups.front();
  const std::int64_t takes_turns = first.bytes.weights - choice.resident_of(0);
  double loads = streamed.input_copy().seconds(first.bytes.input) +
                 copies_of(streamed, choice, 1).in_s + streamed.down.latency_s;
  if (takes_turns > 0) loads += streamed.down.seconds(takes_turns);
  for (std::size_t g = 0; g < streamed.groups.size(); ++g)
    if (choice.resident_of(g) > 0) loads += streamed.down.seconds(choice.resident_of(g));
  const auto count = static_cast<double>(streamed.in_first_pass(choice.in_flight));
  return loads + passes_at_least(streamed, choice) - pass_at_least(streamed, choice, 0, count) +
         pass_at_least(streamed, choice, 1, count);
}

}  // namespace

// Rehearsal::at_least explains these bounds, except passes_at_least() and behind_weights_that_stay().
double seconds_at_least(const StreamedCase& streamed, const StreamedChoice& choice,
                        std::int64_t most_buffers) {
  const double passes = passes_of(streamed, choice),
               slots = static_cast<double>(streamed.micro_batches);
  const double waiting_slots = std::max(0.0, slots - passes * static_cast<double>(most_buffers));
  const auto steps = static_cast<double>(streamed.steps);
  const double turns = streamed.groups.size() == 1 ? 1 : passes * steps;
  const double weights = weight_seconds(streamed, choice);
  double compute = 0, runs = 0, before = 0, first_there = 0, beginning = 0;
  double latencies = 0, weight_loads = 0;  // without overlap, each copy also takes its latency
  std::array<double, RealCopies::engines> copies_s{};  // for one micro-batch, indexed by engine
  FirstWeights first(streamed);
  std::int64_t inputs = 1;  // how many inputs must arrive before group g starts
  const std::int64_t in_first_pass = streamed.in_first_pass(choice.in_flight);
  for (std::size_t g = 0; g < streamed.groups.size(); ++g) {
    const StreamedCase::Group& group = streamed.groups[g];
    const GroupCopies copies = copies_of(streamed, choice, g);
    const std::int64_t stays = choice.resident_of(g), takes_turns = group.bytes.weights - stays;
    first.add(group.bytes.weights);
    const double there = first.at_least(inputs);
    if (g == 0) first_there = there;
    beginning = std::max(beginning, there - before);
    before += static_cast<double>(in_first_pass) * group.compute_s;
    inputs = in_first_pass;
    compute += group.compute_s;
    weight_loads += (stays > 0 ? 1 : 0) + (takes_turns > 0 ? turns : 0);
    latencies += copies.latencies_s;
    copies_s[copies.in_engine] += copies.in_s;
    copies_s[copies.out_engine] += copies.out_s;
    runs += std::max(
        {slots * group.compute_s, waiting_slots * copies.in_s, waiting_slots * copies.out_s});
  }
  const double all = steps * slots;
  if (!streamed.overlap) {
    for (const double seconds : copies_s) compute += seconds;
    return first.begun_s() + weights + weight_loads * streamed.down.latency_s +
           all * (compute + latencies);
  }
  // After the last computation, the last answer is saved.
  const GroupCopies last = copies_of(streamed, choice, streamed.groups.size() - 1);
  const double last_s =
      streamed.returns_answers ? last.out_s + streamed.answer_copy().latency_s : 0;
  const double before_last =
      std::max({first_there + steps * runs, first_there + passes_at_least(streamed, choice),
                behind_weights_that_stay(streamed, choice), beginning + all * compute,
                ending(streamed, choice, weights + all * copies_s[down_engine])});
  double least = before_last + last_s;
  for (std::size_t engine = up_engine; engine < copies_s.size(); ++engine)
    least = std::max(least, all * copies_s[engine]);
  // Without a shown machine, `up_engine` makes only saves, and the first save follows the first loads.
  if (!streamed.real && copies_s[up_engine] > 0)
    least = std::max(least, first_there + all * copies_s[up_engine] + streamed.up.latency_s);
  return least;
}

std::optional<StreamedCase> on_shared_links(const PolicyRequest& request,
                                            const CommonParameters& common,
                                            const StreamedCase& streamed) {
  if (!request.replicas || streamed.real) return {};
  StreamedCase shared = streamed;
  shared.down.setup_s = 0;
  shared.down.bandwidth =
      copy_time(*request.replicas->share, common.host, common.device.name).bandwidth;
  return shared;
}

double loads_at_least(const StreamedCase& shared, const StreamedChoice& choice) {
  double inputs_s = 0;
  for (std::size_t g = 0; g < shared.groups.size(); ++g)
    inputs_s += copies_of(shared, choice, g).in_s;
  return weight_seconds(shared, choice) +
         static_cast<double>(shared.steps) * static_cast<double>(shared.micro_batches) * inputs_s;
}

// For each bound, the replica counts for which the link carries the last bytes that the bound names. When they have
// arrived, this replica still makes the computations that need them.
double replicas_at_least(const StreamedCase& shared, const StreamedChoice& choice) {
  FirstWeights first(shared);
  std::int64_t inputs = 1;  // how many inputs must arrive before group g starts
  const std::int64_t in_first_pass = shared.in_first_pass(choice.in_flight);
  double compute = 0, before = 0, beginning = 0;
  for (const StreamedCase::Group& group : shared.groups) {
    first.add(group.bytes.weights);
    beginning = std::max(beginning, first.at_least(inputs) - before);
    before += static_cast<double>(in_first_pass) * group.compute_s;
    inputs = in_first_pass;
    compute += group.compute_s;
  }
  const double slots =
      static_cast<double>(shared.steps) * static_cast<double>(shared.micro_batches);
  const GroupCopies last = copies_of(shared, choice, shared.groups.size() - 1);
  const double last_s = shared.returns_answers ? last.out_s + shared.answer_copy().latency_s : 0;
  return (std::max(beginning + slots * compute,
                   ending(shared, choice, loads_at_least(shared, choice))) +
          last_s) *
         within_accuracy;
}

}  // namespace sluice
