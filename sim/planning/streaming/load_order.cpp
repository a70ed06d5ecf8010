#include "planning/streaming/load_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

/// Computation and copies of a few steps, in the order of time. Slots and runs are counted through
/// all of these steps.
class LoadOrder {
 public:
  LoadOrder(const Rehearsal& rehearsal, std::int64_t steps)
      : rehearsal_(rehearsal),
        streamed_(rehearsal.streamed()),
        slots_(rehearsal.slots()),
        runs_(static_cast<std::int64_t>(rehearsal.runs().size())),
        steps_(steps),
        computed_(static_cast<std::size_t>(steps * slots_), unknown),
        input_there_(static_cast<std::size_t>(steps * slots_), unknown),
        weights_there_(static_cast<std::size_t>(steps * runs_), 0),
        pieces_left_(static_cast<std::size_t>(steps * runs_), 0),
        ahead_(static_cast<std::size_t>(steps * runs_), 0),
        ahead_from_(static_cast<std::size_t>(steps * runs_), 0),
        saved_(static_cast<std::size_t>(steps * slots_), 0) {
    for (std::int64_t r = 0; r < steps * runs_; ++r)
      pieces_left_[at(r)] = rehearsal.pieces(run(r).group).size() - rehearsal.first_piece(run(r));
    next_piece_ = rehearsal.first_piece(run(0));
    skip_runs_without_pieces();
    skip_inputs_that_are_made();
  }

  RehearsedOrder all() {
    while (next_piece_run_ < steps_ * runs_ || next_input_ < steps_ * slots_) {
      compute_what_can_be();
      load_next();
    }
    return {std::move(loads_), used()};
  }

 private:
  /// The most bytes that the loads ahead led to, or a little more: each run as if all of them had
  /// been there from the first of its slots that any was.
  std::int64_t used() const {
    std::int64_t most = 0;
    for (std::int64_t r = 0; r < steps_ * runs_; ++r) {
      if (ahead_[at(r)] == 0) continue;
      const std::size_t in_step = at(r % runs_);
      const std::int64_t level = std::max(rehearsal_.level(in_step, ahead_from_[at(r)]),
                                          rehearsal_.level(in_step, run(r).count - 1));
      most = std::max(most, level + ahead_[at(r)]);
    }
    return most;
  }

  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
  const GroupRun& run(std::int64_t r) const { return rehearsal_.runs()[at(r % runs_)]; }
  std::int64_t first_slot(std::int64_t r) const { return (r / runs_) * slots_ + run(r).first_slot; }
  std::int64_t end_slot(std::int64_t r) const { return first_slot(r) + run(r).count; }

  void skip_runs_without_pieces() {
    while (next_piece_run_ < steps_ * runs_ && pieces_left_[at(next_piece_run_)] == 0) {
      ++next_piece_run_;
      next_piece_ = rehearsal_.first_piece(run(next_piece_run_));
    }
  }
  void skip_inputs_that_are_made() {
    while (input_run_ < steps_ * runs_) {
      if (next_input_ < end_slot(input_run_) && rehearsal_.loads_input(run(input_run_))) return;
      if (next_input_ < end_slot(input_run_)) next_input_ = end_slot(input_run_);
      ++input_run_;
    }
    next_input_ = steps_ * slots_;
  }

  /// Computes slot after slot until one lacks its input or weights.
  void compute_what_can_be() {
    while (compute_ < steps_ * slots_) {
      while (compute_ >= end_slot(compute_run_)) ++compute_run_;
      const GroupRun& here = run(compute_run_);
      double start = end_of(compute_ - 1);
      if (rehearsal_.loads_input(here)) {
        if (input_there_[at(compute_)] == unknown) return;
        start = std::max(start, input_there_[at(compute_)]);
      }
      if (pieces_left_[at(compute_run_)] > 0) return;
      start = std::max(start, weights_there_[at(compute_run_)]);
      const std::int64_t buffers = rehearsal_.choice().buffers;
      const bool saves = rehearsal_.saves(here);
      if (saves && saves_made_ >= buffers)
        start = std::max(start, save_there_[at(saves_made_ - buffers)]);
      const double end = start + streamed_.groups[here.group].compute_s;
      computed_[at(compute_)] = end;
      if (saves) {
        save_free_ = std::max(save_free_, end) + rehearsal_.save_seconds(here);
        save_there_.push_back(save_free_ + streamed_.up.latency_s);
        saved_[at(compute_)] = save_there_.back();
        ++saves_made_;
      }
      ++compute_;
    }
  }

  /// The first slot that has not been computed at this time.
  std::int64_t slot_now(double time) {
    while (now_ < compute_ && computed_[at(now_)] <= time) {
      ++now_;
      while (now_run_ + 1 < steps_ * runs_ && now_ >= end_slot(now_run_)) ++now_run_;
    }
    return now_;
  }

  double end_of(std::int64_t slot) const {
    if (slot < 0) return 0;
    if (slot >= compute_) return unknown;
    return rehearsal_.one_by_one() ? std::max(computed_[at(slot)], saved_[at(slot)])
                                   : computed_[at(slot)];
  }
  double release_at(std::int64_t slot) const { return end_of(slot - 1); }

  void load_next() {
    const std::int64_t now = slot_now(free_);
    const std::int64_t from = std::max(now, last_at_);
    double input_time = unknown, piece_time = unknown;
    std::int64_t input_at = 0, piece_at = 0;
    if (next_input_ < steps_ * slots_) {
      input_at = std::min(next_input_, std::max({next_input_ - rehearsal_.choice().buffers + 1,
                                                 from, earliest(), after_source(next_input_)}));
      input_time = std::max(release_at(input_at), source_of(next_input_));
    }
    if (next_piece_run_ < steps_ * runs_) {
      piece_at = place_of_piece(from);
      piece_time = release_at(piece_at);
    }
    const bool input = input_time <= std::max(free_, piece_time);
    if (input)
      load_input(input_at, std::max(free_, input_time));
    else
      load_piece(piece_at, std::max(free_, piece_time));
  }

  /// No load stands before the step before its own.
  std::int64_t earliest() const {
    return std::max<std::int64_t>(0, (next_input_ / slots_ - 1) * slots_);
  }

  /// The slot after the one that makes what a later group reads.
  std::int64_t after_source(std::int64_t slot) const {
    return run(input_run_).group == 0 ? 0 : slot - run(input_run_ - 1).count + 1;
  }
  /// When it is in host memory.
  double source_of(std::int64_t slot) const {
    const GroupRun& here = run(input_run_);
    if (here.group == 0) return 0;
    const std::int64_t made = slot - run(input_run_ - 1).count;
    return made < compute_ ? saved_[at(made)] : unknown;
  }

  void load_input(std::int64_t at_slot, double start) {
    const GroupRun& here = run(input_run_);
    const double seconds = rehearsal_.input_seconds(here);
    free_ = start + seconds;
    input_there_[at(next_input_)] = free_ + streamed_.down.latency_s;
    loads_.push_back({at(input_run_), next_input_, RehearsedLoad::input, at_slot, seconds});
    last_at_ = at_slot;
    ++next_input_;
    skip_inputs_that_are_made();
  }

  void load_piece(std::int64_t at_slot, double start) {
    const std::int64_t r = next_piece_run_;
    const std::int64_t bytes = rehearsal_.pieces(run(r).group)[next_piece_];
    const double seconds = streamed_.down.seconds(bytes);
    free_ = start + seconds;
    weights_there_[at(r)] = free_ + streamed_.down.latency_s;
    loads_.push_back(
        {at(r), first_slot(r), static_cast<std::int32_t>(next_piece_), at_slot, seconds});
    last_at_ = at_slot;
    for (std::int64_t q = r - 1; !stays(r) && q >= 0 && end_slot(q) > at_slot; --q) {
      if (ahead_[at(q)] == 0)
        ahead_from_[at(q)] = std::max<std::int64_t>(0, at_slot - first_slot(q));
      ahead_[at(q)] += bytes;
    }
    --pieces_left_[at(r)];
    ++next_piece_;
    skip_runs_without_pieces();
  }

  /// Does the next piece, of this run, stay? Then its room is its own from the start.
  bool stays(std::int64_t r) const { return next_piece_ < rehearsal_.kept(run(r).group); }

  /// The earliest slot, `from` or later, from which on the next piece has room until its group
  /// runs.
  std::int64_t place_of_piece(std::int64_t from) const {
    const std::int64_t r = next_piece_run_, need = first_slot(r);
    const std::int64_t bytes = rehearsal_.pieces(run(r).group)[next_piece_];
    from = std::max(from, std::max<std::int64_t>(0, (r / runs_ - 1) * slots_));
    if (const auto prefetch = rehearsal_.choice().prefetch)
      from = std::max(from, r - *prefetch - 1 < 0 ? 0 : end_slot(r - *prefetch - 1));
    if (!streamed_.overlap) from = need;
    for (std::int64_t q = r - 1; !stays(r) && q >= 0 && end_slot(q) > from; --q) {
      const std::int64_t first = std::max<std::int64_t>(0, from - first_slot(q));
      const std::int64_t ok = first_with_room(q, first, bytes);
      if (ok > first) return first_slot(q) + ok;
    }
    return std::min(from, need);
  }

  /// The first micro-batch of a run, `first` or later, from which on so many bytes more have room;
  /// the run's count: none. Within a run the level is linear.
  std::int64_t first_with_room(std::int64_t q, std::int64_t first, std::int64_t bytes) const {
    const std::size_t in_step = at(q % runs_);
    const std::int64_t count = run(q).count;
    const std::int64_t room = rehearsal_.bytes() - ahead_[at(q)] - bytes;
    if (rehearsal_.level(in_step, count - 1) > room) return count;
    const std::int64_t over = rehearsal_.level(in_step, first) - room;
    if (over <= 0) return first;
    const std::int64_t falls =
        rehearsal_.level(in_step, first) - rehearsal_.level(in_step, first + 1);
    return first + (over + falls - 1) / falls;
  }

  const Rehearsal& rehearsal_;
  const StreamedCase& streamed_;
  std::int64_t slots_, runs_, steps_;
  std::vector<double> computed_, input_there_;  ///< by slot
  std::vector<double> weights_there_;           ///< by run: of those that have come
  std::vector<std::size_t> pieces_left_;        ///< by run
  std::vector<std::int64_t> ahead_;             ///< by run: bytes for later runs
  std::vector<std::int64_t> ahead_from_;        ///< by run: the first micro-batch beside them
  std::vector<double> saved_;                   ///< by slot
  std::vector<double> save_there_;
  std::int64_t saves_made_ = 0;
  double free_ = 0, save_free_ = 0;  ///< the copy engines
  std::int64_t compute_ = 0, compute_run_ = 0, now_ = 0, now_run_ = 0, last_at_ = 0;
  std::int64_t next_input_ = 0, input_run_ = 0, next_piece_run_ = 0;
  std::size_t next_piece_ = 0;
  std::vector<RehearsedLoad> loads_;
};

/// Do the loads of a step, repeated in every step, stay within the memory?
class StepLevels {
 public:
  StepLevels(const Rehearsal& rehearsal, const std::vector<RehearsedLoad>& loads)
      : rehearsal_(rehearsal), covers_(rehearsal.runs().size()) {
    const auto runs = static_cast<std::int64_t>(covers_.size());
    for (const RehearsedLoad& load : loads) {
      if (load.piece == RehearsedLoad::input) continue;
      const GroupRun& own = rehearsal.runs()[load.run];
      const std::int64_t bytes = rehearsal.pieces(own.group)[static_cast<std::size_t>(load.piece)];
      for (std::int64_t q = static_cast<std::int64_t>(load.run) - 1;; --q) {
        const std::int64_t step = q < 0 ? -1 : 0, place = q - step * runs;
        if (place < 0) break;
        const GroupRun& run = rehearsal.runs()[static_cast<std::size_t>(place)];
        const std::int64_t first = run.first_slot + step * rehearsal.slots();
        if (first + run.count <= load.at) break;
        covers_[static_cast<std::size_t>(place)].emplace_back(
            std::max<std::int64_t>(0, load.at - first), bytes);
      }
    }
  }

  bool fit() {
    for (std::size_t r = 0; r < covers_.size(); ++r) {
      auto& covers = covers_[r];
      std::sort(covers.begin(), covers.end());
      std::int64_t ahead = 0;
      for (std::size_t c = 0; c < covers.size(); ++c) {
        ahead += covers[c].second;
        if (c + 1 < covers.size() && covers[c + 1].first == covers[c].first) continue;
        const std::int64_t end =
            c + 1 < covers.size() ? covers[c + 1].first : rehearsal_.runs()[r].count;
        for (const std::int64_t m : {covers[c].first, end - 1})
          if (rehearsal_.level(r, m) + ahead > rehearsal_.bytes()) return false;
      }
    }
    return true;
  }

 private:
  const Rehearsal& rehearsal_;
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> covers_;  ///< (from, bytes)
};

}  // namespace

RehearsedOrder order_loads(const Rehearsal& rehearsal, bool across) {
  RehearsedOrder order = LoadOrder(rehearsal, across ? 3 : 1).all();
  if (!across) return order;
  const auto runs = rehearsal.runs().size();
  std::vector<RehearsedLoad> middle;
  for (RehearsedLoad load : order.loads) {
    if (load.run / runs != 1) continue;
    load.run -= runs;
    load.slot -= rehearsal.slots();
    load.at -= rehearsal.slots();
    middle.push_back(load);
  }
  order.loads = std::move(middle);
  if (!StepLevels(rehearsal, order.loads).fit()) order.loads.clear();
  return order;
}

}  // namespace sluice
