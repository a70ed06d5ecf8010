#include "planning/streaming/rehearsal.hpp"

#include <algorithm>
#include <limits>

#include "base/quantity.hpp"
#include "planning/streaming/load_order.hpp"
#include "planning/streaming/run_clock.hpp"

namespace sluice {

namespace {

/// At the end of a step, loads may come earlier than in other rounds, because no further loads follow. These last
/// rounds are not compared with others.
constexpr std::int64_t rounds_of_end = 2;

std::vector<GroupPieces> pieces_of_groups(const StreamedCase& streamed,
                                          const StreamedChoice& choice) {
  std::vector<GroupPieces> pieces;
  for (std::size_t g = 0; g < streamed.groups.size(); ++g)
    pieces.push_back(group_pieces(streamed, choice, g));
  return pieces;
}

std::int64_t sum(const std::vector<std::int64_t>& bytes, std::size_t first, std::size_t end) {
  std::int64_t all = 0;
  for (std::size_t i = first; i < end; ++i) all += bytes[i];
  return all;
}

}  // namespace

std::vector<GroupRun> runs_of(const StreamedCase& streamed, const StreamedChoice& choice,
                              const std::optional<SomeRounds>& shorter) {
  const std::size_t groups = streamed.groups.size();
  if (!streamed.repeats_passes(choice.in_flight))
    return group_runs(groups, streamed.micro_batches, choice.in_flight);
  std::int64_t micro_batches = streamed.micro_batches;
  if (shorter) {
    const PassRounds rounds = pass_rounds(streamed, choice, shorter->passes);
    micro_batches = rounds.before + shorter->count * rounds.size;
  }
  return group_runs_short_first(groups, micro_batches, choice.in_flight);
}

PassRounds pass_rounds(const StreamedCase& streamed, const StreamedChoice& choice,
                       std::int64_t passes) {
  PassRounds rounds;
  rounds.size = checked_mul(passes, choice.in_flight, "micro-batches of a round");
  rounds.count = (passes_per_step(streamed.micro_batches, choice.in_flight) - 1) / passes;
  rounds.before = streamed.micro_batches - rounds.count * rounds.size;
  return rounds;
}

// Actions of a round may only depend on actions of the same round and of the round before. Computations wait for at
// most `buffers` + 1 earlier results, so a round has more micro-batches than that. Weights may be loaded more than a
// pass early. Then rounds of more passes are needed.
std::vector<SomeRounds> shorter_steps(const StreamedCase& streamed, const StreamedChoice& choice) {
  constexpr std::int64_t fewest = 8, most = 16, times_passes = 4;
  std::vector<SomeRounds> steps;
  if (!streamed.repeats_passes(choice.in_flight)) return steps;
  SomeRounds some{(choice.buffers + choice.in_flight + 1) / choice.in_flight, fewest};
  const std::int64_t longest = times_passes * some.passes;
  while (some.count <= most && some.count < pass_rounds(streamed, choice, some.passes).count) {
    steps.push_back(some);
    (some.passes < longest ? some.passes : some.count) *= 2;
  }
  return steps;
}

RepeatedRound repeated_round(const StreamedCase& streamed, const StreamedChoice& choice,
                             const SomeRounds& some) {
  const PassRounds all = pass_rounds(streamed, choice, some.passes);
  const auto groups = static_cast<std::int64_t>(streamed.groups.size());
  const std::int64_t first = some.count / 2;
  return {.first_slot = groups * (all.before + first * all.size),
          .slots = groups * all.size,
          .times = all.count - first,
          .listed = some.count - first,
          .compared = some.count - rounds_of_end - first};
}

Rehearsal::Rehearsal(const StreamedCase& streamed, const StreamedChoice& choice,
                     const std::optional<SomeRounds>& shorter)
    : streamed_(streamed),
      choice_(choice),
      runs_(runs_of(streamed, choice, shorter)),
      pieces_(pieces_of_groups(streamed, choice)),
      levels_(streamed_, choice_, runs_, constant(), shorter.has_value()) {
  for (const GroupPieces& pieces : pieces_)
    turns_.push_back(sum(pieces.bytes, pieces.kept, pieces.bytes.size()));
  saves_before_.push_back(0);
  for (const GroupRun& run : runs_)
    saves_before_.push_back(saves_before_.back() + (saves(run) ? run.count : 0));
  levels_.set_room(bytes());
}

/// Returns for each group the bytes that are on the device from the start to the end of a run of the group: the group's
/// weights, all weights that stay, the group's workspace, and the caches.
std::vector<std::int64_t> Rehearsal::constant() const {
  std::int64_t stay = streamed_.caches;
  for (const GroupPieces& pieces : pieces_) stay += sum(pieces.bytes, 0, pieces.kept);
  std::vector<std::int64_t> bytes;
  for (std::size_t g = 0; g < pieces_.size(); ++g)
    bytes.push_back(stay + streamed_.groups[g].bytes.workspace +
                    sum(pieces_[g].bytes, pieces_[g].kept, pieces_[g].bytes.size()));
  return bytes;
}

void Rehearsal::set_ahead(std::int64_t bytes) {
  choice_.ahead = bytes;
  levels_.set_room(this->bytes());
}

bool Rehearsal::saves_answers(const GroupRun& run) const {
  return saves(run) && (!choice_.offloads(run.group) || run.group + 1 == streamed_.groups.size());
}

Rehearsal::Copy Rehearsal::save_copy(const GroupRun& run) const {
  const bool real = streamed_.real && saves_answers(run);
  const CopyTime& up = real ? streamed_.real->answers : streamed_.up;
  return {saves(run) ? up.seconds(levels_.saved_bytes(run)) : 0, up.latency_s,
          real ? streamed_.real->answers_engine : RealCopies::up_engine};
}

Rehearsal::Copy Rehearsal::input_copy(const GroupRun& run) const {
  const bool real = streamed_.real && run.group == 0;
  const CopyTime& down = real ? streamed_.real->inputs : streamed_.down;
  return {loads_input(run) ? down.seconds(streamed_.groups[run.group].bytes.input) : 0,
          down.latency_s, real ? streamed_.real->inputs_engine : RealCopies::down_engine};
}

RehearsedOrder Rehearsal::order() const {
  RehearsedOrder best = order_loads(*this);
  if (streamed_.steps == 1 || !streamed_.overlap) return best;
  double best_s = seconds(best.loads);
  for (RehearsedOrder& across : orders_across_steps(*this)) {
    best.used = std::max(best.used, across.used);
    // If `across` has no loads, loads across steps do not fit into bytes() bytes. With fewer bytes,
    // loads have another order, which may fit. So `best` is the result only for exactly bytes() bytes.
    if (across.loads.empty()) best.used = bytes();
    const double across_s = across.loads.empty() ? best_s : seconds(across.loads);
    if (across_s >= best_s) continue;
    best.loads = std::move(across.loads);
    best_s = across_s;
  }
  return best;
}

std::vector<RehearsedLoad> Rehearsal::prologue(const std::vector<RehearsedLoad>& loads) const {
  std::vector<RehearsedLoad> early;
  for (const RehearsedLoad& load : loads)
    if (load.at < 0) early.push_back(load);
  const auto earlier = [](const RehearsedLoad& a, const RehearsedLoad& b) { return a.at < b.at; };
  std::stable_sort(early.begin(), early.end(), earlier);
  if (!kept_in_prologue(streamed_)) return early;
  std::vector<RehearsedLoad> all;
  std::size_t next = 0;
  for (std::size_t r = 0; r < streamed_.groups.size(); ++r) {
    while (next < early.size() && early[next].slot < runs_[r].first_slot) ++next;
    const std::int64_t at = next < early.size() ? early[next].at : 0;
    for (std::size_t piece = 0; piece < kept(runs_[r].group); ++piece)
      all.push_back({r, runs_[r].first_slot, static_cast<std::int32_t>(piece), at,
                     streamed_.down.seconds(pieces(runs_[r].group)[piece])});
  }
  all.insert(all.end(), early.begin(), early.end());
  std::stable_sort(all.begin(), all.end(), earlier);
  return all;
}

double Rehearsal::seconds(const std::vector<RehearsedLoad>& loads) const {
  return RunClock(*this, loads).makespan();
}

RehearsedStep::RehearsedStep(const StreamedCase& streamed, const StreamedChoice& choice)
    : streamed_(streamed), choice_(choice) {
  for (const SomeRounds& some : shorter_steps(streamed, choice))
    if (repeat(some)) return;
  rehearsal_ = std::make_unique<Rehearsal>(streamed, choice);
  order_ = rehearsal_->order();
}

/// Rehearses a shorter step. Returns whether the round in the middle may stand for all later rounds.
bool RehearsedStep::repeat(const SomeRounds& some) {
  rehearsal_ = std::make_unique<Rehearsal>(streamed_, choice_, some);
  order_ = rehearsal_->order();
  if (!repeat_loads(some)) return false;
  const std::optional<double> round_s = round_seconds(some);
  if (!round_s) return false;
  repeated_ = repeated_round(streamed_, choice_, some);
  round_s_ = *round_s;
  return true;
}

/// Returns whether the rounds of the second half, except those at the end, have equal loads, and no load comes more
/// than one round early. If so, the loads of the rounds at the end become equal to these.
bool RehearsedStep::repeat_loads(const SomeRounds& some) {
  std::vector<RehearsedLoad>& loads = order_.loads;
  const auto earlier = [](const RehearsedLoad& a, const RehearsedLoad& b) { return a.at < b.at; };
  if (!std::is_sorted(loads.begin(), loads.end(), earlier)) return false;
  const RepeatedRound first_round = repeated_round(streamed_, choice_, some);
  const std::int64_t slots = first_round.slots;
  const std::size_t count = loads.size(),
                    runs = streamed_.groups.size() * static_cast<std::size_t>(some.passes);
  const auto begin = [&](std::int64_t round) {
    RehearsedLoad from;
    from.at = first_round.first_slot + round * slots;
    return static_cast<std::size_t>(std::lower_bound(loads.begin(), loads.end(), from, earlier) -
                                    loads.begin());
  };
  const auto later = [&](RehearsedLoad load) {
    load.run += runs;
    load.slot += slots;
    load.at += slots;
    return load;
  };
  for (std::int64_t round = 0; round + 1 < first_round.compared; ++round) {
    const std::size_t first = begin(round), next = begin(round + 1), end = begin(round + 2);
    if (next == first || end - next != next - first) return false;
    for (std::size_t i = first; i < next; ++i)
      if (later(loads[i]) != loads[i + next - first] ||
          loads[i].slot >= first_round.first_slot + (round + 2) * slots)
        return false;
  }
  const std::size_t from = begin(first_round.compared - 1);
  loads.resize(begin(first_round.compared));
  for (std::size_t i = from; i < loads.size(); ++i)
    if (const RehearsedLoad next = later(loads[i]); next.run < rehearsal_->runs().size())
      loads.push_back(next);
  return loads.size() == count;
}

/// Returns the seconds of each further round, if all further rounds take equally long.
std::optional<double> RehearsedStep::round_seconds(const SomeRounds& some) const {
  if (!streamed_.overlap) {
    const SomeRounds more{some.passes, some.count + 1};
    return Rehearsal(streamed_, choice_, more).seconds({}) - rehearsal_->seconds({});
  }
  const RepeatedRound round = repeated_round(streamed_, choice_, some);
  RunClock clock(*rehearsal_, order_.loads);
  clock.makespan();
  return clock.period(round.first_slot + (round.compared - 1) * round.slots, round.slots);
}

double RehearsedStep::seconds() const {
  const double rehearsed = rehearsal_->seconds(order_.loads);
  if (!repeated_) return rehearsed;
  return rehearsed + round_s_ * static_cast<double>(repeated_->times - repeated_->listed);
}

// The bound of a step with one more round is greater by about the same seconds each time, or by more. So the smallest
// difference of a few steps is a lower bound of all further differences.
double RehearsedStep::at_least(const StreamedCase& streamed, const StreamedChoice& choice) {
  constexpr std::int64_t differences = 4;
  const std::vector<SomeRounds> steps = shorter_steps(streamed, choice);
  if (steps.empty()) return Rehearsal(streamed, choice).at_least();
  const std::int64_t passes = steps.front().passes, count = steps.front().count;
  const auto of = [&](std::int64_t rounds) {
    return Rehearsal(streamed, choice, SomeRounds{passes, rounds}).at_least();
  };
  double before = of(count - differences), least = std::numeric_limits<double>::infinity();
  for (std::int64_t rounds = count - differences + 1; rounds <= count; ++rounds) {
    const double seconds = of(rounds);
    least = std::min(least, seconds - before);
    before = seconds;
  }
  constexpr double rounding = 1 - 1e-11;
  const auto more = static_cast<double>(pass_rounds(streamed, choice, passes).count - count);
  return (before + more * std::max(0.0, least)) * rounding;
}

}  // namespace sluice
