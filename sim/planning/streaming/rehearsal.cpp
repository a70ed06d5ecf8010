#include "planning/streaming/rehearsal.hpp"

#include <algorithm>
#include <limits>

#include "planning/streaming/load_order.hpp"
#include "planning/streaming/run_clock.hpp"

namespace sluice {

Rehearsal::Rehearsal(const StreamedCase& streamed, const StreamedChoice& choice)
    : streamed_(streamed),
      choice_(choice),
      runs_(group_runs(streamed.groups.size(), streamed.micro_batches, choice.in_flight)) {
  for (std::size_t g = 0; g < streamed.groups.size(); ++g) {
    pieces_.push_back(group_pieces(streamed, choice, g));
    turns_.push_back(streamed.groups[g].bytes.weights);
    for (std::size_t piece = 0; piece < kept(g); ++piece) {
      resident_ += pieces(g)[piece];
      turns_[g] -= pieces(g)[piece];
    }
  }
  std::int64_t result = 0;  // the largest that may still be on its way to host memory
  const auto see = [&](const GroupRun& run) {
    if (saves(run)) result = std::max(result, streamed.groups[run.group].bytes.output);
  };
  if (streamed.steps > 1) std::for_each(runs_.begin(), runs_.end(), see);
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    see(runs_[r]);
    bases_.push_back(base_of(r, result));
    least_ = std::max({least_, level(r, 0), level(r, runs_[r].count - 1)});
  }
}

// Beside what it computes with, a slot may meet inputs for the next slots, and results of earlier
// ones that are still on their way to host memory: `buffers` of each at most. With one buffer, and
// without overlap, nothing is on its way.
Rehearsal::Base Rehearsal::base_of(std::size_t r, std::int64_t earlier_result) const {
  const GroupRun& run = runs_[r];
  const StageBytes& bytes = streamed_.groups[run.group].bytes;
  const std::int64_t others = streamed_.overlap ? choice_.buffers - 1 : 0;
  const bool again = streamed_.steps > 1;
  std::int64_t next_input = 0;
  const auto looks_at = static_cast<std::size_t>(std::min<std::int64_t>(others, 64));
  for (std::size_t k = 0; k <= looks_at; ++k) {
    if (r + k >= runs_.size() && !again) break;
    const GroupRun& next = runs_[(r + k) % runs_.size()];
    if (loads_input(next))
      next_input = std::max(next_input, streamed_.groups[next.group].bytes.input);
  }
  const bool last = run.group + 1 == streamed_.groups.size();
  Base base;
  base.bytes = resident_ + turns_[run.group] + bytes.workspace + streamed_.caches +
               others * next_input;
  if (loads_input(run))
    base.bytes += bytes.input;
  else
    base.in = bytes.input;
  if (saves(run) || last) {
    base.bytes += bytes.output + others * earlier_result;
  } else {
    base.out = bytes.output;
    base.bytes += (others > 0 ? choice_.buffers : 0) * earlier_result;
  }
  return base;
}

std::int64_t Rehearsal::level(std::size_t run, std::int64_t m) const {
  const Base& base = bases_[run];
  __extension__ using Wide = __int128;  // counts and bytes each fit in 64 bits, not their products
  const Wide bytes = static_cast<Wide>(base.bytes) +
                     static_cast<Wide>(runs_[run].count - m) * base.in +
                     static_cast<Wide>(m + 1) * base.out;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 4;
  return bytes > most ? most : static_cast<std::int64_t>(bytes);
}

double Rehearsal::save_seconds(const GroupRun& run) const {
  return saves(run) ? streamed_.up.seconds(streamed_.groups[run.group].bytes.output) : 0;
}

double Rehearsal::input_seconds(const GroupRun& run) const {
  return loads_input(run) ? streamed_.down.seconds(streamed_.groups[run.group].bytes.input) : 0;
}

RehearsedOrder Rehearsal::order() const {
  RehearsedOrder alone = order_loads(*this, false);
  if (streamed_.steps == 1 || !streamed_.overlap) return alone;
  RehearsedOrder across = order_loads(*this, true);
  across.used = alone.used = std::max(alone.used, across.used);
  if (across.loads.empty()) alone.used = bytes();  // with more, steps may repeat
  if (across.loads.empty() || seconds(across.loads) >= seconds(alone.loads)) return alone;
  return across;
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
    const std::int64_t at = next < early.size() ? early[next].at : -1;
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

namespace {

/// What a step has to do before its first slot, after its last one, and to load in all.
struct WorkOfStep {
  double first_s = 0, last_s = 0;
  double inputs_s = 0, weights_s = 0;
  double kept_s = 0;  ///< before the first step
};

WorkOfStep work_of(const Rehearsal& rehearsal) {
  const StreamedCase& streamed = rehearsal.streamed();
  WorkOfStep work;
  for (const GroupRun& run : rehearsal.runs()) {
    work.inputs_s += static_cast<double>(run.count) * rehearsal.input_seconds(run);
    const std::vector<std::int64_t>& pieces = rehearsal.pieces(run.group);
    for (std::size_t piece = rehearsal.first_piece(run); piece < pieces.size(); ++piece)
      work.weights_s += streamed.down.seconds(pieces[piece]);
    for (std::size_t piece = 0; run.pass == 0 && piece < rehearsal.first_piece(run); ++piece)
      work.kept_s += streamed.down.seconds(pieces[piece]);
  }
  const GroupRun& first = rehearsal.runs().front();
  work.first_s = rehearsal.input_seconds(first) + streamed.down.latency_s;
  for (const std::int64_t piece : rehearsal.pieces(first.group))
    work.first_s += streamed.down.seconds(piece);
  const GroupRun& last = rehearsal.runs().back();
  if (rehearsal.saves(last)) work.last_s = rehearsal.save_seconds(last) + streamed.up.latency_s;
  return work;
}

/// Seconds from the start of a run's first slot to that of its last one, at least: all others are
/// computed, and all inputs but the first `buffers` come after its first slot, all results but the
/// last `buffers` leave before its last one.
double until_last_slot(const Rehearsal& rehearsal, const GroupRun& run) {
  const double others = static_cast<double>(run.count - 1);
  const double copied =
      std::max<double>(0, static_cast<double>(run.count - rehearsal.choice().buffers));
  return std::max({others * rehearsal.streamed().groups[run.group].compute_s,
                   copied * rehearsal.input_seconds(run), copied * rehearsal.save_seconds(run)});
}

/// The first pass: its loads up to each group, then what of `in_runs`, all runs of all groups, comes
/// after them.
double beginning(const Rehearsal& rehearsal, double in_runs) {
  const StreamedCase& streamed = rehearsal.streamed();
  double loaded = rehearsal.input_seconds(rehearsal.runs().front()) + streamed.down.latency_s;
  double before = 0, least = 0;
  for (std::size_t g = 0; g < streamed.groups.size(); ++g) {
    for (const std::int64_t piece : rehearsal.pieces(g)) loaded += streamed.down.seconds(piece);
    least = std::max(least, loaded + in_runs - before);
    const GroupRun& run = rehearsal.runs()[g];
    before += until_last_slot(rehearsal, run) + streamed.groups[g].compute_s;
  }
  return least;
}

/// When slot `m` of a run starts, the device holds no more than `bytes()`: so long does the link
/// need afterwards for what of the `later` bytes of weights it cannot hold yet.
double held_back(const Rehearsal& rehearsal, std::size_t r, std::int64_t m, std::int64_t later) {
  const double missing =
      static_cast<double>(later) - static_cast<double>(rehearsal.bytes() - rehearsal.level(r, m));
  return std::max(0.0, missing) / rehearsal.streamed().down.bandwidth;
}

}  // namespace

// The greatest of four bounds: the runs of all groups follow each other; the copy engine brings
// everything, and then the group whose weights came last is computed; each group of the first pass
// waits for the weights of all groups up to it, and everything but those before it is computed
// afterwards; and in the last step, when a slot starts, weights that the device cannot hold yet have
// still to come.
double Rehearsal::at_least() const {
  if (!streamed_.overlap) return seconds({});
  const WorkOfStep work = work_of(*this);
  const auto steps = static_cast<double>(streamed_.steps);
  const GroupRun& last = runs_.back();
  const double last_c = streamed_.groups[last.group].compute_s;
  const double tail =
      (loads_input(last) ? last_c : static_cast<double>(last.count) * last_c) + work.last_s;
  double least =
      work.kept_s + steps * (work.weights_s + work.inputs_s) + streamed_.down.latency_s + tail;
  double in_runs = 0;
  std::int64_t later = 0;
  for (const GroupRun& run : runs_) {
    in_runs += until_last_slot(*this, run) + streamed_.groups[run.group].compute_s;
    later += turns_[run.group];
  }
  least = std::max(least, work.first_s + steps * in_runs + work.last_s);
  least = std::max(least, beginning(*this, steps * in_runs) + work.last_s);
  double start = work.first_s + (steps - 1) * in_runs;
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    later -= turns_[runs_[r].group];
    const double last_slot = start + until_last_slot(*this, runs_[r]);
    if (later > 0) {
      least = std::max(least, start + held_back(*this, r, 0, later) + tail);
      least = std::max(least, last_slot + held_back(*this, r, runs_[r].count - 1, later) + tail);
    }
    start = last_slot + streamed_.groups[runs_[r].group].compute_s;
  }
  return least;
}

}  // namespace sluice
