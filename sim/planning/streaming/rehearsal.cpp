#include "planning/streaming/rehearsal.hpp"

#include <algorithm>
#include <limits>

#include "planning/streaming/load_order.hpp"
#include "planning/streaming/run_clock.hpp"

namespace sluice {

namespace {

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

Rehearsal::Rehearsal(const StreamedCase& streamed, const StreamedChoice& choice)
    : streamed_(streamed),
      choice_(choice),
      runs_(group_runs(streamed.groups.size(), streamed.micro_batches, choice.in_flight)),
      pieces_(pieces_of_groups(streamed, choice)),
      levels_(streamed_, choice_, runs_, constant()) {
  for (const GroupPieces& pieces : pieces_)
    turns_.push_back(sum(pieces.bytes, pieces.kept, pieces.bytes.size()));
  saves_before_.push_back(0);
  for (const GroupRun& run : runs_)
    saves_before_.push_back(saves_before_.back() + (saves(run) ? run.count : 0));
  levels_.set_room(bytes());
}

/// Returns for each group the bytes that are on the device from the start to the end of every run
/// of the group: the group's weights, all weights that stay, the group's workspace, and the caches.
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

std::int64_t Rehearsal::slot_of_save(std::int64_t number) const {
  const auto after = std::upper_bound(saves_before_.begin(), saves_before_.end(), number);
  const auto run = static_cast<std::size_t>(after - saves_before_.begin()) - 1;
  return runs_[run].first_slot + number - saves_before_[run];
}

double Rehearsal::save_seconds(const GroupRun& run) const {
  return saves(run) ? streamed_.up.seconds(levels_.saved_bytes(run)) : 0;
}

double Rehearsal::input_seconds(const GroupRun& run) const {
  return loads_input(run) ? streamed_.down.seconds(streamed_.groups[run.group].bytes.input) : 0;
}

RehearsedOrder Rehearsal::order() const {
  RehearsedOrder alone = order_loads(*this, false);
  if (streamed_.steps == 1 || !streamed_.overlap) return alone;
  RehearsedOrder across = order_loads(*this, true);
  across.used = alone.used = std::max(alone.used, across.used);
  // If `across` has no loads, loads across steps do not fit into bytes() bytes. With fewer bytes
  // they may fit, so `alone` is the result only for exactly bytes() bytes.
  if (across.loads.empty()) alone.used = bytes();
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

namespace {

/// The seconds of the transfers of a step.
struct WorkOfStep {
  double first_s = 0, last_s = 0;  ///< transfers before the first slot, and after the last slot
  double inputs_s = 0, weights_s = 0;
  double kept_s = 0;  ///< the seconds of the loads before the first step
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

/// Returns a lower bound of the seconds from the start of a run's first slot to the start of its last slot.
/// In this time, the device computes all slots except the last slot, loads all inputs except those that are
/// in buffers at the start, and saves all results except those that are in buffers at the end.
double until_last_slot(const Rehearsal& rehearsal, std::size_t r) {
  const GroupRun& run = rehearsal.runs()[r];
  const auto beyond = [&](std::int64_t others) {
    return static_cast<double>(std::max<std::int64_t>(0, run.count - 1 - others));
  };
  return std::max({beyond(0) * rehearsal.streamed().groups[run.group].compute_s,
                   beyond(rehearsal.levels().inputs(r)) * rehearsal.input_seconds(run),
                   beyond(rehearsal.levels().results(r)) * rehearsal.save_seconds(run)});
}

/// Returns a lower bound of the seconds that run r takes.
double of_run(const Rehearsal& rehearsal, std::size_t r) {
  return until_last_slot(rehearsal, r) +
         rehearsal.streamed().groups[rehearsal.runs()[r].group].compute_s;
}

/// Returns a lower bound of the seconds that all runs of a step need in addition to of_run(). The
/// bound looks at consecutive runs that save results. When their last slot starts, all earlier
/// results of these runs have been saved, except the results in buffers.
double waits_for_saves(const Rehearsal& rehearsal) {
  const std::vector<GroupRun>& runs = rehearsal.runs();
  double waits = 0;
  for (std::size_t first = 0, end = 0; first < runs.size(); first = std::max(end, first + 1)) {
    std::int64_t results = -1;  // The result of the last slot is not counted.
    double computed = 0;
    for (end = first; end < runs.size() && rehearsal.saves(runs[end]); ++end) {
      results += runs[end].count;
      computed += of_run(rehearsal, end);
    }
    if (end < first + 2) continue;
    const auto compute_s = [&](std::size_t r) {
      return rehearsal.streamed().groups[runs[r].group].compute_s;
    };
    std::int64_t left = results - rehearsal.levels().results(end - 1);
    double saved = compute_s(first) + compute_s(end - 1);
    for (std::size_t r = first; r < end && left > 0; left -= runs[r++].count)
      saved += static_cast<double>(std::min(left, runs[r].count)) * rehearsal.save_seconds(runs[r]);
    waits += std::max(0.0, saved - computed);
  }
  return waits;
}

/// Returns the lower bound of the makespan that follows from the last pass. All loads for a run and for
/// earlier runs have arrived before the last slot of the run starts. `loads_s` is the time of all loads.
double ending(const Rehearsal& rehearsal, double loads_s) {
  const std::vector<GroupRun>& runs = rehearsal.runs();
  double later_loads = 0, later_runs = 0, least = 0;
  for (std::size_t r = runs.size(); r-- > 0 && runs[r].pass == runs.back().pass;) {
    const bool input = rehearsal.loads_input(runs[r]);
    const double last = rehearsal.streamed().groups[runs[r].group].compute_s;
    const double tail = (input ? last : of_run(rehearsal, r)) + later_runs;
    double loads =
        static_cast<double>(input ? runs[r].count : 0) * rehearsal.input_seconds(runs[r]);
    const std::vector<std::int64_t>& pieces = rehearsal.pieces(runs[r].group);
    for (std::size_t piece = rehearsal.first_piece(runs[r]); piece < pieces.size(); ++piece)
      loads += rehearsal.streamed().down.seconds(pieces[piece]);
    if (loads > 0)
      least = std::max(least, loads_s - later_loads + rehearsal.streamed().down.latency_s + tail);
    later_loads += loads;
    later_runs += of_run(rehearsal, r);
  }
  return least;
}

/// Returns the lower bound of the makespan that follows from the first pass. For each group, the makespan is at least
/// the sum of two times: the time of all loads up to this group, and the time of the computation that can only start
/// after these loads. `in_runs` is the time of all runs of all groups.
double beginning(const Rehearsal& rehearsal, double in_runs) {
  const StreamedCase& streamed = rehearsal.streamed();
  double loaded = rehearsal.input_seconds(rehearsal.runs().front()) + streamed.down.latency_s;
  double before = 0, least = 0;
  for (std::size_t g = 0; g < streamed.groups.size(); ++g) {
    for (const std::int64_t piece : rehearsal.pieces(g)) loaded += streamed.down.seconds(piece);
    least = std::max(least, loaded + in_runs - before);
    before += until_last_slot(rehearsal, g) + streamed.groups[g].compute_s;
  }
  return least;
}

/// The runs after a slot need `later` bytes of weights. When slot `m` of run `r` starts, the device holds at most
/// `bytes()` bytes, so some of these weights are not loaded yet. Returns the time that the link needs to load them.
double held_back(const Rehearsal& rehearsal, std::size_t r, std::int64_t m, std::int64_t later) {
  const double missing =
      static_cast<double>(later) - static_cast<double>(rehearsal.bytes() - rehearsal.level(r, m));
  return std::max(0.0, missing) / rehearsal.streamed().down.bandwidth;
}

/// Returns a lower bound of the seconds between this run and the next run. While the last slot of
/// this run is computed, some of the next run's weights may have no room. They are loaded after
/// this slot, and the next run waits for their arrival.
double wait_for_weights(const Rehearsal& rehearsal, std::size_t r, std::int64_t next_weights) {
  const GroupRun& run = rehearsal.runs()[r];
  const std::int64_t room = rehearsal.bytes() - rehearsal.levels().least_at(r, run.count - 1);
  if (next_weights <= room) return 0;
  const CopyTime& down = rehearsal.streamed().down;
  return static_cast<double>(next_weights - room) / down.bandwidth + down.latency_s;
}

}  // namespace

// The result is the greatest of five lower bounds:
// 1. The runs of all groups follow each other.
// 2. The copy engine makes all loads. After these loads, the groups whose weights or inputs came last are computed.
// 3. Each group of the first pass waits for its own weights and the weights of all earlier groups. The computation of
//    this group and of all later runs follows.
// 4. When a slot of a step starts, the weights for which the device has no room yet must still be loaded.
// 5. The runs of all groups follow each other. Between two runs, the device loads the weights for which it had no room
//    during the first of the two runs.
double Rehearsal::at_least() const {
  if (!streamed_.overlap) return seconds({});
  const WorkOfStep work = work_of(*this);
  const auto steps = static_cast<double>(streamed_.steps);
  const GroupRun& last = runs_.back();
  const double last_c = streamed_.groups[last.group].compute_s;
  const double tail = loads_input(last) ? last_c : static_cast<double>(last.count) * last_c;
  double least =
      ending(*this, work.kept_s + steps * (work.weights_s + work.inputs_s)) + work.last_s;
  double in_runs = 0;
  std::int64_t later = 0;
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    in_runs += of_run(*this, r);
    later += turns_[runs_[r].group];
  }
  least = std::max(least, beginning(*this, steps * in_runs) + work.last_s);
  // The seconds since the start of the first slot of the step.
  double in_step = in_runs + waits_for_saves(*this), start = 0;
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    later -= turns_[runs_[r].group];
    const double last_slot = start + until_last_slot(*this, r);
    if (later > 0) {
      in_step = std::max(in_step, start + held_back(*this, r, 0, later) + tail);
      const double held_at_last = held_back(*this, r, runs_[r].count - 1, later);
      in_step = std::max(in_step, last_slot + held_at_last + tail);
    }
    start = last_slot + streamed_.groups[runs_[r].group].compute_s;
    if (r + 1 < runs_.size() && runs_[r + 1].group != runs_[r].group)
      start += wait_for_weights(*this, r, turns_[runs_[r + 1].group]);
  }
  in_step = std::max(in_step, start);
  return std::max(least, work.first_s + steps * in_step + work.last_s);
}

}  // namespace sluice
