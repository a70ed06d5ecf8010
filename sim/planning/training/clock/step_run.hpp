// One run of the clock of a training step (step_clock.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/indices_by_slot.hpp"
#include "planning/copy_time.hpp"
#include "planning/slots/row_position.hpp"
#include "planning/training/clock/step_times.hpp"
#include "planning/training/rounding.hpp"
#include "planning/training/step_clock.hpp"

namespace sluice {

/// Goes through a run whose loads are listed at given places. Without `places`, the loads may be at any places.
class StepRun {
 public:
  StepRun(const StepClock& clock, const std::vector<Program::Load>& loads,
          const std::vector<LoadPlace>* places)
      : clock_(clock),
        step_(clock.step_),
        loads_(loads),
        places_(places),
        by_slot_(step_.operations.size(), places ? loads.size() : 0,
                 [&](std::size_t i) { return row_position(place_of(i).at, step_.count()).index; }),
        needed_(step_.operations.size(), loads.size(),
                [&](std::size_t i) { return static_cast<std::size_t>(loads[i].needed); }),
        copies_(clock.streams_, 0),
        computes_(clock.down_.size(), 0),
        saving_(clock.streams_, 0),
        needed_s_(clock.shared_links_, 0),
        binds_(needed_s_.size() + copies_.size(), 0),
        now_(step_, clock.saves_.back(), loads.size()),
        before_(now_),
        next_(now_) {
    for (std::size_t i = 0; places && i < loads.size(); ++i)
      if (place_of(i).at < 0) first_goes_ahead_ = true;
    if (clock.memory_) memory_.emplace(*clock.memory_, clock.saves_.back());
  }

  /// Returns a lower bound on the seconds of the run.
  double seconds() {
    // Of the rounds after these, only the seconds of the computations or those of the busiest copy stream count.
    const std::int64_t rounds = std::min(clock_.rounds_, StepClock::exact_rounds);
    const double later = static_cast<double>(clock_.rounds_ - rounds);
    prologue();
    for (round_ = 0; round_ < rounds; ++round_) {
      round(round_ + 1 == clock_.rounds_);
      std::swap(before_, now_);
      std::swap(now_, next_);
    }
    // In the rounds of this loop, a simulation adds the same numbers in the same order as the loop, so both have the
    // same rounding errors. Only the sum over the later rounds, and the seconds of a later round, may be rounded
    // differently.
    const auto times = static_cast<double>(clock_.left_out_.times);
    const double additions = (later > 0   ? later + 1
                              : times > 0 ? 1
                                          : 0) *
                             static_cast<double>(step_.count());
    const double left_out_s = times > 0 ? times * growth() : 0;
    const double least =
        lowered_for_rounding(end_ + left_out_s + later * clock_.compute_s_, additions);
    return std::max({least, later > 0 ? seconds_of_copies(later) : 0,
                     clock_.seconds_on_links() * within_accuracy});
  }

 private:
  /// Returns the seconds until the busiest copy stream has made the copies of all rounds. `later` is the number of
  /// rounds through which the clock did not go. Early loads of the first of these rounds are already among the copies
  /// that the clock has seen.
  double seconds_of_copies(double later) const {
    std::vector<double> round_s(copies_.size(), 0), early_s(copies_.size(), 0);
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      const Program::Instance& made = step_.instances[loads_[i].instance];
      if (goes_ahead(i)) early_s[clock_.stream_of(made).stream] += clock_.load_seconds(made);
    }
    for (std::size_t i = 0; i < step_.instances.size(); ++i) {
      const Program::Instance& made = step_.instances[i];
      if (made.loaded) round_s[clock_.stream_of(made).stream] += clock_.load_seconds(made);
      round_s[clock_.up_[made.device].stream] += clock_.save_s_[i];
    }
    double most = 0;
    for (std::size_t s = 0; s < round_s.size(); ++s)
      most = std::max(most, copies_[s] + later * round_s[s] - early_s[s]);
    const double additions = (later + 1) * 2 * static_cast<double>(step_.instances.size());
    return lowered_for_rounding(most * within_accuracy, additions);
  }

  /// Returns the seconds of the loads that operations have needed so far: on each shared link and, if the order of the
  /// loads is not known, on each copy stream.
  std::vector<double> needed_seconds() const {
    std::vector<double> all = needed_s_;
    if (!places_) all.insert(all.end(), copies_.begin(), copies_.end());
    return all;
  }
  /// Records what has grown before the equal passes, and at their end.
  void note_growth(std::int64_t slot) {
    if (slot == clock_.left_out_.begin) binds_.assign(binds_.size(), 0);
    std::vector<double> behind;
    for (std::uint32_t d = 0; memory_ && d < computes_.size(); ++d)
      behind.push_back(memory_->behind(d));
    grown_.push_back({std::move(behind), needed_seconds()});
  }
  /// Returns by how many seconds the run is longer at least for each further time that it repeats the equal passes.
  ///
  /// What comes after these passes depends on times of the last passes: the times of the clock are sums of such times
  /// and of seconds, and maxima of such sums. So if all these times are later by d seconds at the end of the equal
  /// passes than at their begin, all times are later by d seconds if these passes come once more. Loads that operations
  /// have needed so far are such a time only where an operation waits for them (`binds_`). Without places, each load
  /// only matters for the operation that needs it, so no operation after these passes depends on a load before them.
  double growth() const {
    const LeftOutPasses& left = clock_.left_out_;
    const StepTimes& times = before_;  // of the only round
    double least = std::numeric_limits<double>::infinity();
    const auto grow = [&](double before, double after) { least = std::min(least, after - before); };
    const auto each = [&](const std::vector<double>& all, std::size_t from, std::size_t to,
                          std::size_t later) {
      for (std::size_t i = from; i < to; ++i) grow(all[i], all[i + later]);
    };
    const std::int64_t first = left.begin - LeftOutPasses::reach * left.pass;
    const auto slots = [](std::int64_t slot) { return static_cast<std::size_t>(slot); };
    each(times.computed, slots(first), slots(left.begin), slots(left.end - left.begin));
    const std::vector<std::size_t>& saves = clock_.saves_;
    each(times.saved, saves[slots(first)], saves[slots(left.begin)],
         saves[slots(left.end)] - saves[slots(left.begin)]);
    const std::size_t begin = first_needed_from(loads_, left.begin),
                      end = first_needed_from(loads_, left.end);
    for (std::size_t i = first_needed_from(loads_, first); places_ && i < end; ++i)
      if (i < begin || (place_of(i).at < left.begin && i + end - begin < loads_.size()))
        grow(times.loaded[i], times.loaded[i + end - begin]);
    const StepGrowth &before = grown_.front(), &after = grown_.back();
    for (std::size_t d = 0; d < before.behind.size(); ++d)
      if (std::isfinite(before.behind[d])) grow(before.behind[d], after.behind[d]);
    for (std::size_t n = 0; n < binds_.size(); ++n)
      if (binds_[n]) grow(before.needed[n] * within_accuracy, after.needed[n] * within_accuracy);
    return std::max(0.0, least);
  }

  const LoadPlace& place_of(std::size_t load) const { return (*places_)[load]; }
  bool goes_ahead(std::size_t load) const {
    if (!places_) return false;
    return place_of(load).at < 0 || (place_of(load).at == 0 && first_goes_ahead_);
  }

  /// If the platform is a shown machine, the run on the real machine begins with copies of the weights from host memory
  /// into the second memory, in the order in which the weights are first loaded from there. This function adds these
  /// copies. Their copy engine makes them before all others.
  void begin_weights() {
    if (!clock_.real_ || !places_) return;
    const auto begin = [&](std::int64_t stage) {
      const auto seconds = clock_.real_->begins_s.find(stage);
      if (seconds == clock_.real_->begins_s.end() || begun_.count(stage) > 0) return;
      begun_[stage] = copy(clock_.real_->begins, 0, seconds->second);
    };
    const auto begin_load = [&](std::size_t i) {
      const Program::Instance& made = step_.instances[loads_[i].instance];
      if (made.home == Program::Home::weights) begin(made.stage);
    };
    each_in_prologue([&](std::size_t s) { begin(static_cast<std::int64_t>(s)); }, begin_load);
    for (std::size_t slot = 0; slot < by_slot_.slots(); ++slot)
      for (const std::size_t i : by_slot_[slot])
        if (!goes_ahead(i)) begin_load(i);
    for (const auto& [stage, seconds] : clock_.real_->begins_s) begin(stage);
  }

  /// Returns the time at which the weights of this stage have arrived in their home.
  double begun(std::int64_t stage) const {
    const auto found = begun_.find(stage);
    return found == begun_.end() ? 0 : found->second;
  }

  /// Calls `stays(s)` for each stage whose weights stay, and `ahead(i)` for each load that the prologue lists, in the
  /// order in which operations need these loads.
  template <class Stays, class Ahead>
  void each_in_prologue(const Stays& stays, const Ahead& ahead) const {
    std::size_t next = 0;  // `loads_` is in the order in which operations need the loads
    const auto loads_before = [&](std::int64_t slot) {
      for (; next < loads_.size() && loads_[next].needed < slot; ++next)
        if (goes_ahead(next)) ahead(next);
    };
    for (const auto& [slot, stage] : clock_.first_uses_) {
      loads_before(slot);
      stays(stage);
    }
    loads_before(step_.count());
  }

  void prologue() {
    begin_weights();
    weights_.resize(step_.staying.size(), 0);
    each_in_prologue(
        [this](std::size_t s) {
          if (places_)  // without places, need_weights() loads them
            weights_[s] = copy(clock_.down_[step_.staying[s].device],
                               begun(static_cast<std::int64_t>(s)), clock_.weights_s_[s]);
        },
        [this](std::size_t i) { now_.loaded[i] = load_at(i, 0); });
  }

  void round(bool last) {
    for (std::size_t slot = 0; slot < by_slot_.slots(); ++slot) {
      const auto number = static_cast<std::int64_t>(slot);
      const LeftOutPasses& left = clock_.left_out_;
      if (left.times > 0 && (number == left.begin || number == left.end)) note_growth(number);
      for (const bool ahead : {false, true})
        for (const std::size_t i : by_slot_[slot])
          if (goes_ahead(i) == ahead && !(place_of(i).at == 0 && ahead) && !(ahead && last))
            (ahead ? next_ : now_).loaded[i] = load_at(i, ready(i, ahead ? 1 : 0));
      compute(slot);
    }
    if (!last && first_goes_ahead_)
      for (const std::size_t i : by_slot_[0])
        if (place_of(i).at == 0) next_.loaded[i] = load_at(i, ready(i, 1));
  }

  /// Returns the time at which the computation and the saves for which load i waits have ended. The load belongs to the
  /// round that begins `rounds` rounds later.
  double ready(std::size_t i, std::uint32_t rounds) const {
    const Program::Load& load = loads_[i];
    double time = 0;
    if (places_ && clock_.left_out_.waits(load, place_of(i))) {
      const RowPosition after = row_position(place_of(i).after, step_.count());
      if (const StepTimes* times = ago(after.steps_ago, rounds))
        time = times->computed[after.index];
    }
    const Program::Instance& made = step_.instances[load.instance];
    if (made.copy_of != none) {
      const Program::Instance& source = step_.instances[made.copy_of];
      time = std::max(time, now_.saved[save_number(source.saved_at, source.saves)]);
    }
    if (const auto& written = clock_.written_[load.instance])
      if (const StepTimes* times = ago(written->rounds_ago, rounds))
        time = std::max(time, times->saved[save_number(written->operation, written->number)]);
    if (memory_ && rounds == 0)
      if (const std::int64_t before = clock_.memory_->load_after[load.instance]; before >= 0)
        time = std::max(time, now_.computed[static_cast<std::size_t>(before)]);
    return time;
  }

  /// Returns the times of the round that is `rounds_ago` rounds before the load's own round. `ahead` is 1 if the load's
  /// own round is the next round, and otherwise 0. Returns null if there is no such round, or if its times are not yet
  /// known.
  const StepTimes* ago(std::uint32_t rounds_ago, std::uint32_t ahead) const {
    if (rounds_ago < ahead) return nullptr;
    const std::uint32_t back = rounds_ago - ahead;
    if (back == 0) return &now_;
    return back == 1 && round_ > 0 ? &before_ : nullptr;
  }

  std::size_t save_number(std::int64_t operation, std::size_t number) const {
    return clock_.saves_[static_cast<std::size_t>(operation)] + number;
  }

  double load_at(std::size_t i, double ready) {
    const Program::Instance& made = step_.instances[loads_[i].instance];
    if (made.home == Program::Home::weights) ready = std::max(ready, begun(made.stage));
    const StepClock::CopyStream& way = clock_.stream_of(made);
    const double seconds = clock_.load_seconds(made);
    if (places_) return copy(way, ready, seconds);
    copies_[way.stream] += seconds;  // start_after_loads() adds the other loads
    return ready + seconds + way.latency_s;
  }

  /// The order of the loads is not known. But operations have needed loads for so many seconds on this stream that the
  /// last of them arrives no earlier than this.
  double all_loaded(const StepClock::CopyStream& way) const {
    return copies_[way.stream] * within_accuracy + way.latency_s;
  }

  /// Operation `slot` starts at `start` or later. Returns the later time at which the links and streams have made all
  /// loads that operations have needed so far.
  double start_after_loads(std::size_t slot, double start) {
    const auto wait = [&](std::size_t number, double loaded) {
      if (loaded > start) binds_[number] = 1;
      start = std::max(start, loaded);
    };
    for (std::size_t link = 0; link < needed_s_.size(); ++link)
      wait(link, needed_s_[link] * within_accuracy - clock_.sums_differ_s_);
    if (places_) return start;
    for (const std::size_t i : needed_[slot]) {
      const StepClock::CopyStream& way = clock_.stream_of(step_.instances[loads_[i].instance]);
      wait(needed_s_.size() + way.stream, all_loaded(way));
    }
    return start;
  }

  double copy(const StepClock::CopyStream& way, double ready, double seconds) {
    double& free = copies_[way.stream];
    free = std::max(free, ready) + seconds;
    end_ = std::max(end_, free + way.latency_s);
    return free + way.latency_s;
  }

  void compute(std::size_t slot) {
    const Program::Operation& operation = step_.operations[slot];
    // The sums of gradients may arrive during the loads of the update. So this wait is not a part of its computation.
    const double wait_s = clock_.waits_s_[slot];
    double start = computes_[operation.device] + wait_s;
    if (clock_.down_.size() > 1 && operation.phase != phase_) start = std::max(start, computed_);
    phase_ = operation.phase;
    if (round_ == 0) need_weights(static_cast<std::int64_t>(slot));
    if (!weights_.empty())
      start = std::max(start, weights_[static_cast<std::size_t>(operation.stage)]);
    for (const std::size_t i : needed_[slot]) {
      if (!places_) now_.loaded[i] = load_at(i, ready(i, 0));
      start = std::max(start, now_.loaded[i]);
      need(step_.instances[loads_[i].instance]);
    }
    const std::uint32_t device = operation.device;
    if (memory_) start = std::max(start, memory_->start(slot, device));
    start = start_after_loads(slot, start);
    computed_ = start + (operation.seconds - wait_s);
    computes_[device] = now_.computed[slot] = computed_;
    if (memory_) memory_->end(slot, device, computed_);
    end_ = std::max(end_, computed_);
    for (std::size_t n = 0; n < operation.saves.size(); ++n) {
      const std::uint32_t saved = operation.saves[n];
      const StepClock::CopyStream& way = clock_.up_[step_.instances[saved].device];
      // Saves of one stream take turns in the order of the list, wherever loads are listed.
      double& free = places_ ? copies_[way.stream] : saving_[way.stream];
      free = std::max(free, computed_) + clock_.save_s_[saved];
      if (memory_) memory_->end_save(clock_.saves_[slot] + n, free);
      now_.saved[clock_.saves_[slot] + n] = free + way.latency_s;
      end_ = std::max(end_, free + way.latency_s);
    }
  }

  /// The operation `slot` of the first round needs the weights of its stage, if they stay and it is the first of them.
  void need_weights(std::int64_t slot) {
    for (; next_first_use_ < clock_.first_uses_.size(); ++next_first_use_) {
      const auto& [first, stage] = clock_.first_uses_[next_first_use_];
      if (first > slot) return;
      const Program::Staying& stays = step_.staying[stage];
      const StepClock::CopyStream& way = clock_.down_[stays.device];
      if (!places_) {
        copies_[way.stream] += clock_.weights_s_[stage];
        weights_[stage] = all_loaded(way);
      }
      add_needed(way, stays.weights);
    }
  }

  /// The next operation needs the load that brings `made`. Adds the seconds of this load on each shared link to
  /// `needed_s_`. Operations run in the order of the list, because each phase runs on one device. So before this
  /// operation starts, the shared links must have carried this load and the loads of all earlier operations. With equal
  /// replicas, the times of the clock are those of the replica that is the last at each operation: before this one
  /// starts, the links have carried these loads of all replicas.
  void need(const Program::Instance& made) {
    if (memory_) memory_->need(made.device, made.bytes);
    add_needed(clock_.stream_of(made), made.bytes);
    if (!clock_.real_ || made.home != Program::Home::weights || round_ > 0) return;
    const auto begins = clock_.real_->begins_bytes.find(made.stage);
    if (begins != clock_.real_->begins_bytes.end() && begins_needed_.insert(made.stage).second)
      add_needed(clock_.real_->begins, begins->second);
  }
  void add_needed(const StepClock::CopyStream& way, std::int64_t bytes) {
    for (const auto& [link, per_byte] : way.shared)
      needed_s_[link] += static_cast<double>(bytes) * per_byte;
  }

  const StepClock& clock_;
  const Program& step_;
  const std::vector<Program::Load>& loads_;
  const std::vector<LoadPlace>* places_;  ///< null if the loads may be at any places
  /// The loads that are listed before each slot, and the loads that each slot needs.
  IndicesBySlot by_slot_, needed_;
  /// The times at which each copy stream (`copies_`) and each device (`computes_`) becomes free.
  std::vector<double> copies_, computes_;
  /// The times at which the saves of each copy stream have ended so far.
  std::vector<double> saving_;
  /// Indexed by shared link: for how many seconds the link carries the loads that operations have needed so far.
  std::vector<double> needed_s_;
  /// Indexed like needed_seconds(): whether an action has waited for these loads since the equal passes began.
  std::vector<char> binds_;
  std::vector<StepGrowth>
      grown_;  ///< before the equal passes and after them, if passes are left out
  /// Indexed by stage: the time at which the weights have arrived on their device, if they stay there.
  std::vector<double> weights_;
  /// For each stage: the time at which its weights have arrived in the second memory. `begins_needed_` has the stages
  /// whose weights an operation has needed so far.
  std::map<std::int64_t, double> begun_;
  std::set<std::int64_t> begins_needed_;
  StepTimes now_, before_, next_;
  std::optional<MemoryRun> memory_;  ///< if the memory is limited
  std::int64_t round_ = 0;
  bool first_goes_ahead_ = false;
  std::size_t next_first_use_ = 0;  ///< the index in StepClock::first_uses_
  std::int64_t phase_ = 0;
  double computed_ = 0, end_ = 0;
};

}  // namespace sluice
