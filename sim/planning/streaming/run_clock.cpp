#include "planning/streaming/run_clock.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {

RunClock::RunClock(const Rehearsal& rehearsal, const std::vector<RehearsedLoad>& loads)
    : rehearsal_(rehearsal), streamed_(rehearsal.streamed()), loads_(loads) {
  for (std::size_t i = 0; i < loads.size(); ++i)
    listed_.push_back(
        {loads[i].at < 0 ? loads[i].at + rehearsal.slots() : loads[i].at, loads[i].at < 0, i});
  std::stable_sort(listed_.begin(), listed_.end(), [](const Listed& a, const Listed& b) {
    return a.slot < b.slot || (a.slot == b.slot && a.next_step < b.next_step);
  });
  const auto slots = static_cast<std::size_t>(rehearsal.slots());
  const std::size_t runs = rehearsal.runs().size();
  for (Step* step : {&before_, &now_, &next_})
    *step = {std::vector<double>(slots, 0), std::vector<double>(slots, 0),
             std::vector<double>(slots, 0), std::vector<double>(runs, 0)};
  save_there_.assign(static_cast<std::size_t>(rehearsal.choice().buffers) + 1, 0);
}

double RunClock::makespan() {
  if (!streamed_.overlap) return everything_alone();
  if (streamed_.real) begin_weights();
  prologue();
  double earlier_period = -1;
  for (std::int64_t i = 0; i < streamed_.steps; ++i) {
    const auto free_before = free_;
    step(i + 1 == streamed_.steps);
    first_step_ = false;
    double period = 0;
    // If every slot takes as long in this step as in the previous step, all later steps but the last take equally long.
    // The last step differs, because it makes no loads for a next step. So the loop skips all steps except the last
    // two.
    const bool same = i > 0 && i + 3 < streamed_.steps && repeats(free_before, &period);
    if (same && earlier_period >= 0 && std::abs(period - earlier_period) <= 1e-13 * period) {
      const auto skipped = static_cast<double>(streamed_.steps - i - 3);
      for (Step* some : {&before_, &now_, &next_})
        for (auto* times : {&some->computed, &some->input, &some->saved, &some->weights})
          for (double& time : *times) time += skipped * period;
      for (double& time : save_there_) time += skipped * period;
      for (double& time : free_) time += skipped * period;
      for (double* time : {&compute_free_, &makespan_}) *time += skipped * period;
      i = streamed_.steps - 3;
      earlier_period = -1;
    } else {
      earlier_period = same ? period : -1;
    }
    end_step();
  }
  return makespan_;
}

bool RunClock::repeats(const Engines& free_before, double* period) const {
  *period = now_.computed.back() - before_.computed.back();
  const double slack = 1e-13 * now_.computed.back();
  const std::size_t inputs =
      streamed_.real ? streamed_.real->inputs_engine : RealCopies::down_engine;
  for (const std::size_t engine : {RealCopies::down_engine, inputs})
    if (std::abs(free_[engine] - free_before[engine] - *period) > slack) return false;
  for (std::size_t s = 0; s < now_.computed.size(); ++s)
    if (std::abs(now_.computed[s] - before_.computed[s] - *period) > slack) return false;
  return true;
}

std::optional<double> RunClock::period(std::int64_t first, std::int64_t slots) const {
  const Step& made = before_;
  const double period = made.computed[at(first + slots - 1)] - made.computed[at(first - 1)];
  const double slack = 1e-13 * made.computed.back();
  const auto same = [&](double time, double earlier) {
    return time == earlier ? time == 0 : std::abs(time - earlier - period) <= slack;
  };
  for (std::int64_t s = first; s < first + slots; ++s)
    if (!same(made.computed[at(s)], made.computed[at(s - slots)]) ||
        !same(made.saved[at(s)], made.saved[at(s - slots)]))
      return {};
  const std::vector<GroupRun>& runs = rehearsal_.runs();
  std::size_t in_round = 0;
  for (const GroupRun& run : runs)
    in_round += run.first_slot >= first && run.first_slot < first + slots;
  for (const Listed& listed : listed_) {
    if (listed.slot < first || listed.slot >= first + slots) continue;
    const RehearsedLoad& load = loads_[listed.load];
    if (load.piece == RehearsedLoad::input
            ? !same(made.input[at(load.slot)], made.input[at(load.slot - slots)])
            : !same(made.weights[load.run], made.weights[load.run - in_round]))
      return {};
  }
  return period;
}

/// Copies the weights from host memory into the second memory, in the order in which they are first loaded from there.
/// Their copy engine makes these copies before all others.
void RunClock::begin_weights() {
  for (std::size_t g = 0; g < streamed_.groups.size(); ++g)
    begun_.emplace_back(rehearsal_.pieces(g).size(), 0.0);
  for (const RehearsedLoad& load : rehearsal_.prologue(loads_)) begin(load);
  for (const Listed& listed : listed_) begin(loads_[listed.load]);
}

void RunClock::begin(const RehearsedLoad& load) {
  const GroupRun& run = rehearsal_.runs()[load.run];
  if (load.piece == RehearsedLoad::input || run.pass > 0) return;
  double& there = begun_[run.group][static_cast<std::size_t>(load.piece)];
  if (there > 0) return;
  const CopyTime& copy = streamed_.real->begins;
  double& free = free_[streamed_.real->begins_engine];
  free += copy.seconds(rehearsal_.pieces(run.group)[static_cast<std::size_t>(load.piece)]);
  there = free + copy.latency_s;
  makespan_ = std::max(makespan_, there);
}

/// Returns the time at which the weights of this load have arrived in the second memory, or 0 if the load need not wait
/// for that.
double RunClock::begun(const RehearsedLoad& load) const {
  const GroupRun& run = rehearsal_.runs()[load.run];
  const bool waits = !begun_.empty() && load.piece != RehearsedLoad::input && run.pass == 0;
  return waits ? begun_[run.group][static_cast<std::size_t>(load.piece)] : 0;
}

/// Makes the loads before the first step: those of weights that stay, and the early loads of the first step.
void RunClock::prologue() {
  for (const RehearsedLoad& load : rehearsal_.prologue(loads_)) load_from(load, 0, now_);
}

/// Makes a load of the step `step`. The load starts at `start` or later.
void RunClock::load_from(const RehearsedLoad& load, double start, Step& step) {
  const bool input = load.piece == RehearsedLoad::input;
  const Rehearsal::Copy copy =
      input ? rehearsal_.input_copy(rehearsal_.runs()[load.run])
            : Rehearsal::Copy{load.seconds, streamed_.down.latency_s, RealCopies::down_engine};
  double& free = free_[copy.engine];
  free = std::max({free, start, begun(load)}) + copy.seconds;
  (input ? step.input[at(load.slot)] : step.weights[load.run]) = free + copy.latency_s;
}

void RunClock::step(bool last) {
  std::size_t next = 0, number = 0;
  for (const GroupRun& run : rehearsal_.runs()) {
    for (std::int64_t slot = run.first_slot; slot <= run.last_slot(); ++slot) {
      for (; next < listed_.size() && listed_[next].slot == slot; ++next)
        if (!last || !listed_[next].next_step) bring(listed_[next], number);
      compute(run, number, slot);
    }
    ++number;
  }
}

double RunClock::computed_before(std::int64_t slot) const {
  return slot > 0 ? now_.computed[at(slot - 1)] : before_.computed.back();
}

/// Returns the time from which on at most as many results are in transfer as the run allows.
double RunClock::results_left(std::size_t run) const {
  const auto on_their_way = static_cast<std::size_t>(rehearsal_.levels().results(run));
  return save_there_[(saves_ + save_there_.size() - 1 - on_their_way) % save_there_.size()];
}

void RunClock::bring(const Listed& listed, std::size_t number) {
  const RehearsedLoad& load = loads_[listed.load];
  const bool input = load.piece == RehearsedLoad::input;
  double start = computed_before(listed.slot - (load.replaces_results ? 1 : 0));
  if (load.replaces_results) {
    const std::size_t own = rehearsal_.saves(rehearsal_.runs()[number - 1]) ? 1 : 0;
    start =
        std::max(start, save_there_[(saves_ + save_there_.size() - 1 - own) % save_there_.size()]);
  } else if (listed.slot == rehearsal_.runs()[number].first_slot &&
             rehearsal_.levels().waits_for_results(number)) {
    start = std::max(start, results_left(number));
  }
  if (input && rehearsal_.runs()[load.run].group > 0)
    start = std::max(start, now_.saved[at(load.slot - rehearsal_.runs()[load.run - 1].count)]);
  load_from(load, start, listed.next_step ? next_ : now_);
}

/// On the real machine behind a shown machine, inputs and weights from host memory may share a link. Returns the
/// seconds for which this link carries all inputs and weights up to this slot.
double RunClock::shared_until(const GroupRun& run, std::int64_t slot) {
  if (!streamed_.real) return 0;
  const StageBytes& bytes = streamed_.groups[run.group].bytes;
  std::int64_t crossed = run.group == 0 ? bytes.input : 0;
  if (first_step_ && run.pass == 0 && slot == run.first_slot) crossed += bytes.weights;
  return shared_s_ += static_cast<double>(crossed) * streamed_.real->shared_s_per_byte;
}

void RunClock::compute(const GroupRun& run, std::size_t number, std::int64_t slot) {
  double start = std::max(compute_free_, results_left(number));
  if (rehearsal_.loads_input(run)) start = std::max(start, now_.input[at(slot)]);
  if (slot == run.first_slot) start = std::max(start, now_.weights[number]);
  start = std::max(start, shared_until(run, slot));
  compute_free_ = start + streamed_.groups[run.group].compute_s;
  now_.computed[at(slot)] = compute_free_;
  makespan_ = std::max(makespan_, compute_free_);
  if (!rehearsal_.saves(run)) return;
  const Rehearsal::Copy save = rehearsal_.save_copy(run);
  double& free = free_[save.engine];
  free = std::max(free, compute_free_) + save.seconds;
  const double there = free + save.latency_s;
  save_there_[saves_ % save_there_.size()] = there;
  now_.saved[at(slot)] = there;
  makespan_ = std::max(makespan_, there);
  ++saves_;
}

void RunClock::end_step() {
  std::swap(before_, now_);
  std::swap(now_, next_);
}

/// Returns the makespan without overlap: the sum of the seconds of all actions, with their latencies.
double RunClock::everything_alone() const {
  double step = 0, once = 0;
  for (const GroupRun& run : rehearsal_.runs()) {
    const auto count = static_cast<double>(run.count);
    step += count * streamed_.groups[run.group].compute_s;
    if (rehearsal_.loads_input(run)) {
      const Rehearsal::Copy input = rehearsal_.input_copy(run);
      step += count * (input.seconds + input.latency_s);
    }
    if (rehearsal_.saves(run)) {
      const Rehearsal::Copy save = rehearsal_.save_copy(run);
      step += count * (save.seconds + save.latency_s);
    }
    const std::vector<std::int64_t>& pieces = rehearsal_.pieces(run.group);
    const std::size_t first = rehearsal_.first_piece(run);
    for (std::size_t piece = run.pass == 0 ? 0 : first; piece < pieces.size(); ++piece)
      (piece < first ? once : step) +=
          streamed_.down.seconds(pieces[piece]) + streamed_.down.latency_s;
    for (std::size_t piece = 0; streamed_.real && run.pass == 0 && piece < pieces.size(); ++piece)
      once += streamed_.real->begins.seconds(pieces[piece]) + streamed_.real->begins.latency_s;
  }
  return once + static_cast<double>(streamed_.steps) * step;
}

}  // namespace sluice
