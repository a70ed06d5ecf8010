#include "planning/streaming/rehearsal.hpp"

#include <algorithm>
#include <limits>

#include "base/quantity.hpp"
#include "planning/streaming/load_order.hpp"
#include "planning/streaming/run_clock.hpp"

namespace sluice {

namespace {

/// How many rounds of a long step are rehearsed first, and at most.
constexpr std::int64_t fewest_rounds = 8, most_rounds = 64;
/// At the end of a step, loads may come earlier than in other rounds, because no further loads follow. These last rounds
/// are not compared with others.
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
                              std::optional<std::int64_t> rounds) {
  const std::size_t groups = streamed.groups.size();
  if (!streamed.long_step) return group_runs(groups, streamed.micro_batches, choice.in_flight);
  const PassRounds all = pass_rounds(streamed, choice);
  return group_runs_of_long_step(groups, all.before + rounds.value_or(all.count) * all.size,
                                 choice.in_flight);
}

// Waits reach back over at most `buffers` + 1 results, or into the pass before. So a round has more micro-batches than
// that, and at least one pass.
PassRounds pass_rounds(const StreamedCase& streamed, const StreamedChoice& choice) {
  const std::int64_t in_flight = std::min(choice.in_flight, streamed.micro_batches);
  PassRounds rounds;
  rounds.passes = (choice.buffers + in_flight + 1) / in_flight;
  rounds.size = checked_mul(rounds.passes, in_flight, "micro-batches of a round");
  rounds.count = (passes_per_step(streamed.micro_batches, in_flight) - 1) / rounds.passes;
  rounds.before = streamed.micro_batches - rounds.count * rounds.size;
  return rounds;
}

std::vector<std::int64_t> rehearsed_rounds(const StreamedCase& streamed,
                                           const StreamedChoice& choice) {
  std::vector<std::int64_t> numbers;
  if (!streamed.long_step) return numbers;
  const std::int64_t count = pass_rounds(streamed, choice).count;
  for (std::int64_t rounds = fewest_rounds; rounds < count && rounds <= most_rounds; rounds *= 2)
    numbers.push_back(rounds);
  return numbers;
}

RepeatedRound repeated_round(const StreamedCase& streamed, const StreamedChoice& choice,
                             std::int64_t rounds) {
  const PassRounds all = pass_rounds(streamed, choice);
  const auto groups = static_cast<std::int64_t>(streamed.groups.size());
  const std::int64_t first = rounds / 2;
  return {.first_slot = groups * (all.before + first * all.size),
          .slots = groups * all.size,
          .times = all.count - first,
          .listed = rounds - first,
          .compared = rounds - rounds_of_end - first};
}

std::optional<std::int64_t> few_rounds(const StreamedCase& streamed, const StreamedChoice& choice) {
  if (!streamed.long_step || pass_rounds(streamed, choice).count <= fewest_rounds) return {};
  return fewest_rounds;
}

Rehearsal::Rehearsal(const StreamedCase& streamed, const StreamedChoice& choice,
                     std::optional<std::int64_t> rounds)
    : streamed_(streamed),
      choice_(choice),
      runs_(runs_of(streamed, choice, rounds)),
      pieces_(pieces_of_groups(streamed, choice)),
      levels_(streamed_, choice_, runs_, constant(), rounds.has_value()) {
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
  if (streamed.long_step) rounds_ = pass_rounds(streamed, choice);
  for (const std::int64_t rounds : rehearsed_rounds(streamed, choice))
    if (repeat(rounds)) return;
  rehearsal_ = std::make_unique<Rehearsal>(streamed, choice);
  order_ = rehearsal_->order();
}

/// Rehearses `rounds` rounds. Returns whether the round in the middle may stand for all later rounds.
bool RehearsedStep::repeat(std::int64_t rounds) {
  rehearsal_ = std::make_unique<Rehearsal>(streamed_, choice_, rounds);
  order_ = rehearsal_->order();
  if (!repeat_loads(rounds)) return false;
  const std::optional<double> round_s = round_seconds(rounds);
  if (!round_s) return false;
  repeated_ = repeated_round(streamed_, choice_, rounds);
  round_s_ = *round_s;
  return true;
}

/// Returns whether the rounds of the second half, except those at the end, have equal loads. If so, the loads of the
/// rounds at the end become equal to these.
bool RehearsedStep::repeat_loads(std::int64_t rounds) {
  std::vector<RehearsedLoad>& loads = order_.loads;
  const auto earlier = [](const RehearsedLoad& a, const RehearsedLoad& b) { return a.at < b.at; };
  if (!std::is_sorted(loads.begin(), loads.end(), earlier)) return false;
  const std::size_t groups = streamed_.groups.size(), count = loads.size();
  const std::int64_t slots = static_cast<std::int64_t>(groups) * rounds_.size;
  const auto runs = groups * static_cast<std::size_t>(rounds_.passes);
  const auto begin = [&](std::int64_t round) {
    RehearsedLoad from;
    from.at = static_cast<std::int64_t>(groups) * rounds_.before + round * slots;
    return std::lower_bound(loads.begin(), loads.end(), from, earlier) - loads.begin();
  };
  const auto later = [&](RehearsedLoad load) {
    load.run += runs;
    load.slot += slots;
    load.at += slots;
    return load;
  };
  const std::int64_t end = rounds - rounds_of_end;
  for (std::int64_t round = rounds / 2; round + 1 < end; ++round) {
    const auto first = begin(round), next = begin(round + 1), after = begin(round + 2);
    if (after - next != next - first) return false;
    for (auto i = first; i < next; ++i)
      if (later(loads[static_cast<std::size_t>(i)]) !=
          loads[static_cast<std::size_t>(i + next - first)])
        return false;
  }
  const auto from = static_cast<std::size_t>(begin(end - 1)),
             to = static_cast<std::size_t>(begin(end));
  loads.resize(to);
  for (std::size_t i = from; i < loads.size(); ++i)
    if (const RehearsedLoad next = later(loads[i]); next.run < rehearsal_->runs().size())
      loads.push_back(next);
  return loads.size() == count && to > from;
}

/// Returns the seconds between the ends of two rounds, if they will stay the same in all further rounds.
std::optional<double> RehearsedStep::round_seconds(std::int64_t rounds) const {
  if (!streamed_.overlap)
    return Rehearsal(streamed_, choice_, rounds + 1).seconds({}) - rehearsal_->seconds({});
  const auto groups = static_cast<std::int64_t>(streamed_.groups.size());
  RunClock clock(*rehearsal_, order_.loads);
  clock.makespan();
  const std::int64_t round = rounds - rounds_of_end - 1, slots = groups * rounds_.size;
  return clock.period(groups * rounds_.before + round * slots, slots);
}

double RehearsedStep::seconds() const {
  const double rehearsed = rehearsal_->seconds(order_.loads);
  if (!repeated_) return rehearsed;
  return rehearsed + round_s_ * static_cast<double>(repeated_->times - repeated_->listed);
}

// The bound of a step with a few more rounds grows by about the same seconds with each round, or by more. So the smallest
// growth of a few rounds is a lower bound for all further rounds.
double RehearsedStep::at_least(const StreamedCase& streamed, const StreamedChoice& choice) {
  constexpr std::int64_t compared = 4;
  const auto of = [&](std::int64_t rounds) {
    return Rehearsal(streamed, choice, rounds).at_least();
  };
  if (!few_rounds(streamed, choice)) return Rehearsal(streamed, choice).at_least();
  double before = of(fewest_rounds - compared), least = std::numeric_limits<double>::infinity();
  for (std::int64_t rounds = fewest_rounds - compared + 1; rounds <= fewest_rounds; ++rounds) {
    const double seconds = of(rounds);
    least = std::min(least, seconds - before);
    before = seconds;
  }
  constexpr double rounding = 1 - 1e-11;
  const auto more = static_cast<double>(pass_rounds(streamed, choice).count - fewest_rounds);
  return (before + more * std::max(0.0, least)) * rounding;
}

}  // namespace sluice
