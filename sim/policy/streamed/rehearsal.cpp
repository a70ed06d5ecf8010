#include "policy/streamed/rehearsal.hpp"

#include <algorithm>
#include <limits>

#include "policy/streamed/load_order.hpp"
#include "policy/streamed/run_clock.hpp"

namespace sluice {

Rehearsal::Rehearsal(const StreamedCase& streamed, const StreamedChoice& choice)
    : streamed_(streamed),
      choice_(choice),
      runs_(group_runs(streamed.groups.size(), streamed.micro_batches, choice.in_flight)) {
  for (const StreamedCase::Group& group : streamed.groups)
    pieces_.push_back(pieces_of(group.bytes.weights, choice.piece));
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
  base.bytes = bytes.weights + bytes.workspace + streamed_.caches + others * next_input;
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

std::vector<RehearsedLoad> Rehearsal::loads() const {
  std::vector<RehearsedLoad> alone = order_loads(*this, false);
  if (streamed_.steps == 1 || !streamed_.overlap) return alone;
  std::vector<RehearsedLoad> across = order_loads(*this, true);
  if (across.empty() || seconds(across) >= seconds(alone)) return alone;
  return across;
}

double Rehearsal::seconds(const std::vector<RehearsedLoad>& loads) const {
  return RunClock(*this, loads).makespan();
}

namespace {

/// What the copy engine and the computation of a step have to do, in all and from each run on.
struct WorkOfStep {
  double compute_s = 0, load_s = 0, first_s = 0, last_s = 0, save_s = 0;
  double weights_s = 0;  ///< of the loads
};

WorkOfStep work_of(const Rehearsal& rehearsal) {
  const StreamedCase& streamed = rehearsal.streamed();
  WorkOfStep work;
  for (const GroupRun& run : rehearsal.runs()) {
    const auto count = static_cast<double>(run.count);
    work.compute_s += count * streamed.groups[run.group].compute_s;
    work.load_s += count * rehearsal.input_seconds(run);
    work.save_s += count * rehearsal.save_seconds(run);
    if (!rehearsal.stays() || run.first_slot == 0)
      for (const std::int64_t piece : rehearsal.pieces(run.group))
        work.weights_s += streamed.down.seconds(piece);
  }
  const GroupRun& first = rehearsal.runs().front();
  work.first_s = rehearsal.input_seconds(first) + streamed.down.latency_s;
  for (const std::int64_t piece : rehearsal.pieces(first.group))
    work.first_s += streamed.down.seconds(piece);
  const GroupRun& last = rehearsal.runs().back();
  if (rehearsal.saves(last)) work.last_s = rehearsal.save_seconds(last) + streamed.up.latency_s;
  return work;
}

/// When a run's slot `m` starts, at the earliest after `before` seconds of computation, the card
/// holds no more than `bytes()`; what of later weights it cannot hold yet crosses the link
/// afterwards, and the last group is computed after that.
double held_back(const Rehearsal& rehearsal, std::size_t r, std::int64_t m, std::int64_t later) {
  const double missing = static_cast<double>(later) -
                         static_cast<double>(rehearsal.bytes() - rehearsal.level(r, m));
  return std::max(0.0, missing) / rehearsal.streamed().down.bandwidth;
}

}  // namespace

double Rehearsal::at_least() const {
  const WorkOfStep work = work_of(*this);
  const auto steps = static_cast<double>(streamed_.steps);
  const double weights_s = stays() ? work.weights_s : steps * work.weights_s;
  if (!streamed_.overlap) return seconds({});
  const GroupRun& last = runs_.back();
  const double last_c = streamed_.groups[last.group].compute_s;
  // After the last weights have come their whole group is computed; after a last input one slot.
  const double tail =
      (loads_input(last) ? last_c : static_cast<double>(last.count) * last_c) + work.last_s;
  double least = work.first_s + steps * work.compute_s + work.last_s;
  least = std::max(least, weights_s + steps * work.load_s + streamed_.down.latency_s + tail);
  std::int64_t later = 0;
  for (const GroupRun& run : runs_)
    if (run.first_slot > 0) later += streamed_.groups[run.group].bytes.weights;
  if (stays()) later = 0;
  double before = work.first_s + (steps - 1) * work.compute_s;
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    const GroupRun& run = runs_[r];
    const double each = streamed_.groups[run.group].compute_s;
    if (r > 0 && !stays()) later -= streamed_.groups[run.group].bytes.weights;
    const double end = before + static_cast<double>(run.count - 1) * each;
    if (later > 0) {
      least = std::max(least, before + held_back(*this, r, 0, later) + tail);
      least = std::max(least, end + held_back(*this, r, run.count - 1, later) + tail);
    }
    before = end + each;
  }
  return least;
}

}  // namespace sluice
