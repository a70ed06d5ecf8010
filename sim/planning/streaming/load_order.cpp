#include "planning/streaming/load_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

/// Goes through the computations and copies of a few steps, in the order of time. The numbers of
/// slots and runs continue from one step to the next. groups.hpp explains runs and passes. step_slots.hpp explains
/// slots.
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
        saved_(static_cast<std::size_t>(steps * slots_), 0) {
    all_.reserve(static_cast<std::size_t>(steps * runs_));
    for (std::int64_t step = 0; step < steps; ++step)
      for (std::size_t r = 0; r < rehearsal.runs().size(); ++r) all_.push_back(row_of(step, r));
    next_piece_ = run(0).first_piece;
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
  /// A run of a group.
  struct Row {
    std::size_t group = 0;
    /// The number of slots of the run, its first slot, and the slot after its last slot.
    std::int64_t count = 0, first = 0, end = 0;
    std::size_t in_step = 0;  ///< the index of the run within its step
    std::int64_t level_first = 0, level_last = 0;
    /// During the run, the device may hold `inputs` inputs of later slots and `results` results of earlier slots.
    std::int64_t inputs = 0, results = 0;
    std::int64_t saves_before = 0;
    bool loads_input = false, saves = false, waits = false;
    std::size_t first_piece = 0, pieces = 0, kept = 0;
    std::size_t pieces_left = 0;
    double weights_there = 0;  ///< the time at which the loaded weights have arrived
    std::int64_t ahead = 0;    ///< the bytes on the device for later runs
    /// The first micro-batch of this run during which some of the `ahead` bytes are on the device.
    std::int64_t ahead_from = 0;
  };

  Row row_of(std::int64_t step, std::size_t r) const {
    const GroupRun& run = rehearsal_.runs()[r];
    const RunLevels& levels = rehearsal_.levels();
    Row row;
    row.group = run.group;
    row.count = run.count;
    row.first = step * slots_ + run.first_slot;
    row.end = row.first + run.count;
    row.in_step = r;
    row.level_first = levels.at(r, 0);
    row.level_last = levels.at(r, run.count - 1);
    row.inputs = levels.inputs(r);
    row.results = levels.results(r);
    row.waits = levels.waits_for_results(r);
    row.saves_before = step * rehearsal_.saves_of_step() + rehearsal_.saves_before(r);
    row.loads_input = rehearsal_.loads_input(run);
    row.saves = rehearsal_.saves(run);
    row.first_piece = rehearsal_.first_piece(run);
    row.pieces = rehearsal_.pieces(run.group).size();
    row.kept = rehearsal_.kept(run.group);
    row.pieces_left = row.pieces - row.first_piece;
    return row;
  }

  /// Returns the most bytes that the device holds, with early loads and buffers. With any memory from this number of
  /// bytes to Rehearsal::bytes(), the order of loads is the same. The result may be a little too large: from the first
  /// early load of a run on, the function counts all early loads of this run.
  std::int64_t used() const {
    std::int64_t most = rehearsal_.levels().most();
    for (const Row& row : all_) {
      if (row.ahead == 0) continue;
      const std::int64_t level =
          std::max(rehearsal_.level(row.in_step, row.ahead_from), row.level_last);
      most = std::max(most, level + row.ahead);
    }
    return most;
  }

  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
  const Row& run(std::int64_t r) const { return all_[at(r)]; }
  std::int64_t end_slot(std::int64_t r) const { return all_[at(r)].end; }

  void skip_runs_without_pieces() {
    while (next_piece_run_ < steps_ * runs_ && run(next_piece_run_).pieces_left == 0)
      if (++next_piece_run_ < steps_ * runs_) next_piece_ = run(next_piece_run_).first_piece;
  }
  void skip_inputs_that_are_made() {
    while (input_run_ < steps_ * runs_) {
      if (next_input_ < end_slot(input_run_) && run(input_run_).loads_input) return;
      if (next_input_ < end_slot(input_run_)) next_input_ = end_slot(input_run_);
      ++input_run_;
    }
    next_input_ = steps_ * slots_;
  }

  /// Computes slots, one after the other, up to the first slot whose input or weights have not yet been loaded.
  void compute_what_can_be() {
    while (compute_ < steps_ * slots_) {
      while (compute_ >= end_slot(compute_run_)) ++compute_run_;
      const Row& here = run(compute_run_);
      double start = std::max(end_of(compute_ - 1), results_left(here, saves_made()));
      if (here.loads_input) {
        if (input_there_[at(compute_)] == unknown) return;
        start = std::max(start, input_there_[at(compute_)]);
      }
      if (here.pieces_left > 0) return;
      start = std::max(start, here.weights_there);
      const double end = start + streamed_.groups[here.group].compute_s;
      computed_[at(compute_)] = end;
      if (here.saves) {
        save_free_ =
            std::max(save_free_, end) +
            streamed_.up.seconds(rehearsal_.levels().saved_bytes(rehearsal_.runs()[here.in_step]));
        save_there_.push_back(save_free_ + streamed_.up.latency_s);
        saved_[at(compute_)] = save_there_.back();
      }
      ++compute_;
    }
  }

  std::int64_t saves_made() const { return static_cast<std::int64_t>(save_there_.size()); }

  /// Takes the results of the first `saves` saves. Returns the time from which on all of them except the last
  /// `row.results` have arrived in host memory.
  double results_left(const Row& row, std::int64_t saves) const {
    const std::int64_t save = saves - 1 - row.results;
    return save < 0 ? 0 : save_there_[at(save)];
  }

  /// Returns the first slot whose computation has not ended at `time`.
  std::int64_t slot_now(double time) {
    while (now_ < compute_ && computed_[at(now_)] <= time) {
      ++now_;
      while (now_run_ + 1 < steps_ * runs_ && now_ >= end_slot(now_run_)) ++now_run_;
    }
    return now_;
  }

  double end_of(std::int64_t slot) const {
    if (slot < 0) return 0;
    return slot < compute_ ? computed_[at(slot)] : unknown;
  }
  /// Returns the time at which loads that are listed before `slot` may start. `near` is a run near the slot, at which
  /// the search for the slot's run begins.
  double release_at(std::int64_t slot, std::int64_t near) const {
    const double computed = end_of(slot - 1);
    if (computed == unknown) return unknown;
    std::int64_t r = near;
    while (run(r).end <= slot) ++r;
    while (run(r).first > slot) --r;
    const Row& row = run(r);
    if (row.first < slot || !row.waits) return computed;
    return std::max(computed, results_left(row, row.saves_before));
  }

  void load_next() {
    const std::int64_t now = slot_now(free_);
    const std::int64_t from = std::max(now, last_at_);
    double input_time = unknown, piece_time = unknown;
    std::int64_t input_at = 0, piece_at = 0;
    if (next_input_ < steps_ * slots_) {
      input_at = std::min(next_input_, std::max({first_with_buffer(next_input_), from, earliest(),
                                                 after_source(next_input_)}));
      const double released =
          replaces_results() ? all_results_left(input_at - 1) : release_at(input_at, input_run_);
      input_time = std::max(released, source_of(next_input_));
    }
    if (next_piece_run_ < steps_ * runs_) {
      piece_at = place_of_piece(from);
      piece_time = release_at(piece_at, next_piece_run_);
    }
    const bool input = (rehearsal_.choice().inputs_first && input_run_ < next_piece_run_) ||
                       input_time <= std::max(free_, piece_time);
    if (input)
      load_input(input_at, std::max(free_, input_time));
    else
      load_piece(piece_at, std::max(free_, piece_time));
  }

  /// Returns the first slot from which on a buffer is free for the input of `slot`. The load of the input may be listed
  /// before the returned slot.
  std::int64_t first_with_buffer(std::int64_t slot) const {
    for (std::int64_t r = input_run_; r >= 0; --r) {
      const std::int64_t last = std::min(run(r).end, slot) - 1;
      std::int64_t without = std::min(last, slot - run(r).inputs - 1);
      if (slot >= run(r).end && !rehearsal_.choice().inputs_cross) without = last;
      if (without >= run(r).first) return without + 1;
    }
    return 0;
  }

  /// Returns the first slot before which the load of the next input may be listed: the first slot of the step before
  /// the step that needs the input.
  std::int64_t earliest() const {
    return std::max<std::int64_t>(0, (next_input_ / slots_ - 1) * slots_);
  }

  /// Returns the slot after the slot that makes the input of `slot`. For an input of the model, returns 0.
  std::int64_t after_source(std::int64_t slot) const {
    return run(input_run_).group == 0 ? 0 : slot - run(input_run_ - 1).count + 1;
  }
  /// Returns the time at which the input of `slot` has arrived in host memory.
  double source_of(std::int64_t slot) const {
    if (run(input_run_).group == 0) return 0;
    const std::int64_t made = slot - run(input_run_ - 1).count;
    return made < compute_ ? saved_[at(made)] : unknown;
  }

  /// Returns whether the next input gets the room of results that have left the device. If `inputs_cross` of the choice
  /// is false, the first input of each run gets such room, except in the first run of each step.
  bool replaces_results() const {
    const Row& row = run(input_run_);
    return !rehearsal_.choice().inputs_cross && next_input_ == row.first && row.in_step > 0;
  }
  /// Returns the time at which the slot before `slot` has ended, and the results of all earlier slots have left the
  /// device. `slot` must be the last slot of a run.
  double all_results_left(std::int64_t slot) const {
    const double computed = end_of(slot - 1);
    if (computed == unknown) return unknown;
    const Row& row = run(input_run_ - 1);
    const std::int64_t saves = row.saves_before + (row.saves ? slot - row.first : 0);
    return saves == 0 ? computed : std::max(computed, save_there_[at(saves - 1)]);
  }

  void load_input(std::int64_t at_slot, double start) {
    const Row& here = run(input_run_);
    const GroupRun& needing = rehearsal_.runs()[here.in_step];
    const double seconds = streamed_.down.seconds(streamed_.groups[needing.group].bytes.input);
    free_ = start + seconds;
    input_there_[at(next_input_)] = free_ + streamed_.down.latency_s;
    loads_.push_back(
        {at(input_run_), next_input_, RehearsedLoad::input, at_slot, seconds, replaces_results()});
    last_at_ = at_slot;
    ++next_input_;
    skip_inputs_that_are_made();
  }

  void load_piece(std::int64_t at_slot, double start) {
    const std::int64_t r = next_piece_run_;
    const std::int64_t bytes = rehearsal_.pieces(run(r).group)[next_piece_];
    const double seconds = streamed_.down.seconds(bytes);
    free_ = start + seconds;
    all_[at(r)].weights_there = free_ + streamed_.down.latency_s;
    loads_.push_back(
        {at(r), run(r).first, static_cast<std::int32_t>(next_piece_), at_slot, seconds});
    last_at_ = at_slot;
    for (std::int64_t q = r - 1; !stays(r) && q >= 0 && end_slot(q) > at_slot; --q) {
      Row& row = all_[at(q)];
      if (row.ahead == 0) row.ahead_from = std::max<std::int64_t>(0, at_slot - row.first);
      row.ahead += bytes;
    }
    --all_[at(r)].pieces_left;
    ++next_piece_;
    skip_runs_without_pieces();
  }

  /// Returns whether the next piece, which belongs to run r, stays on the device. Such a piece has its room from the
  /// start.
  bool stays(std::int64_t r) const { return next_piece_ < run(r).kept; }

  /// Returns the first slot, `from` or later, such that there is room for the next piece from this slot to the run of
  /// its group.
  std::int64_t place_of_piece(std::int64_t from) const {
    const std::int64_t r = next_piece_run_, need = run(r).first;
    const std::int64_t bytes = rehearsal_.pieces(run(r).group)[next_piece_];
    from = std::max(from, std::max<std::int64_t>(0, (r / runs_ - 1) * slots_));
    const auto prefetch = rehearsal_.choice().prefetch;
    if (prefetch && !stays(r))  // `prefetch` does not limit weights that stay
      from = std::max(from, r - *prefetch - 1 < 0 ? 0 : end_slot(r - *prefetch - 1));
    if (!streamed_.overlap) from = need;
    for (std::int64_t q = r - 1; !stays(r) && q >= 0 && end_slot(q) > from; --q) {
      const std::int64_t first = std::max<std::int64_t>(0, from - run(q).first);
      const std::int64_t ok = first_with_room(run(q), first, bytes);
      if (ok > first) return run(q).first + ok;
    }
    return std::min(from, need);
  }

  /// Returns the first micro-batch, not before `first`, from which on the device has room for `bytes` more bytes until
  /// the end of the run. If there is none, returns the number of micro-batches of the run. The bytes on the device fall
  /// by the same number from each micro-batch to the next, so a division finds the micro-batch.
  std::int64_t first_with_room(const Row& row, std::int64_t first, std::int64_t bytes) const {
    const std::int64_t room = rehearsal_.bytes() - row.ahead - bytes;
    if (row.level_last > room) return row.count;
    if (row.level_first <= room) return first;
    const std::int64_t level = rehearsal_.level(row.in_step, first), over = level - room;
    if (over <= 0) return first;
    const std::int64_t falls = level - rehearsal_.level(row.in_step, first + 1);
    return first + (over + falls - 1) / falls;
  }

  const Rehearsal& rehearsal_;
  const StreamedCase& streamed_;
  std::int64_t slots_, runs_, steps_;
  std::vector<Row> all_;
  std::vector<double> computed_, input_there_, saved_;  ///< indexed by slot
  std::vector<double> save_there_;                      ///< in the order of the saves
  double free_ = 0, save_free_ = 0;  ///< the times at which the copy engines are free
  std::int64_t compute_ = 0, compute_run_ = 0, now_ = 0, now_run_ = 0, last_at_ = 0;
  std::int64_t next_input_ = 0, input_run_ = 0, next_piece_run_ = 0;
  std::size_t next_piece_ = 0;
  std::vector<RehearsedLoad> loads_;
};

}  // namespace

RehearsedOrder order_loads(const Rehearsal& rehearsal) {
  return LoadOrder(rehearsal, 1).all();
}

std::vector<RehearsedOrder> orders_across_steps(const Rehearsal& rehearsal) {
  // During a step, loads that the next step needs may also be made. In the last of the four rehearsed steps, such loads
  // are missing. So the orders are those of the second and the third step.
  const RehearsedOrder rehearsed = LoadOrder(rehearsal, 4).all();
  const auto runs = rehearsal.runs().size();
  std::vector<RehearsedOrder> orders(2);
  for (RehearsedLoad load : rehearsed.loads) {
    const std::size_t step = load.run / runs;
    if (step != 1 && step != 2) continue;
    load.run -= step * runs;
    load.slot -= static_cast<std::int64_t>(step) * rehearsal.slots();
    load.at -= static_cast<std::int64_t>(step) * rehearsal.slots();
    orders[step - 1].loads.push_back(load);
  }
  if (orders[0].loads == orders[1].loads) orders.pop_back();
  for (RehearsedOrder& order : orders) {
    order.used = rehearsed.used;
    if (!repeats_within_memory(rehearsal, order.loads)) order.loads.clear();
  }
  return orders;
}

}  // namespace sluice
