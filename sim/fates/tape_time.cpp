#include "fates/tape_time.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/indices_by_slot.hpp"
#include "base/never.hpp"

namespace sluice {
namespace {

using Kind = TapeOp::Kind;
constexpr std::size_t nobody = static_cast<std::size_t>(-1);

struct TimedLoad {
  std::int64_t slot;  ///< the slot whose computation needs the tensor
  double seconds;
  std::int64_t bytes;
  /// The index of the save that made the loaded copy. If no save made it, the index is `nobody`.
  std::size_t source;
  std::int64_t earliest = 0;  ///< the earliest slot before which the load may be listed
  /// The slot before which the load is listed. A negative number means a slot of the previous micro-batch.
  std::int64_t at = 0;
  std::int64_t after = 0;  ///< the load starts when this slot has ended
};

struct TimedSave {
  /// The tensor is made in the slot `slot` and used until the slot `last`.
  std::int64_t slot, last;
  double seconds;
  std::int64_t bytes;
};

/// A tape divided into slots. A slot is one computation, the loads before it, and the saves after it.
class TimedTape {
 public:
  TimedTape(const Chain& chain, const Tape& tape, const TapeMemory& memory)
      : chain_(chain),
        runs_(chain, tape),
        n_(chain.stages.size()),
        maker_(2 * n_ + 1, 0),
        save_(2 * n_ + 1, nobody) {
    seconds.reserve(tape.size());
    levels.reserve(tape.size());
    waits.reserve(tape.size());
    loads.reserve(2 * tape.size());  // a pass may load weights and sums of gradients
    saves.reserve(tape.size());
    for (std::size_t i = 0; i < tape.size(); ++i) read(tape[i], memory.bytes[i]);
    begins.reserve(seconds.size() + 1);
    begins.push_back(0);
    for (const double slot : seconds) begins.push_back(begins.back() + slot);
  }

  std::int64_t count() const { return static_cast<std::int64_t>(seconds.size()); }
  double all() const { return begins.back(); }

  /// Both are indexed by slot. `begins` has the times at which the slots would start if only computation took time.
  std::vector<double> seconds, begins;
  std::vector<std::int64_t> levels;  ///< the bytes on the device, indexed by slot
  struct Wait {
    std::int64_t slot =
        0;  ///< the slot of the neighbouring stage whose result comes from another device
    double seconds =
        0;  ///< the least seconds from the end of `slot` to the start of the slot that waits
  };
  std::vector<Wait> waits;  ///< indexed by the slot that waits (ChainHandOver)
  std::vector<TimedLoad> loads;
  std::vector<TimedSave> saves;

 private:
  void read(const TapeOp& op, std::int64_t bytes) {
    const std::size_t s = op.number;
    const bool copies = op.kind == Kind::save || op.kind == Kind::load;
    const std::size_t tensor = op.inner ? n_ + 1 + s : s;
    if (copies) {
      const ChainTensor& moved = op.inner ? chain_.stages[s].inner : chain_.boundary(s);
      if (op.kind == Kind::load)
        return loads.push_back({count(), moved.load_s, moved.bytes, save_[tensor]});
      save_[tensor] = saves.size();
      return saves.push_back({maker_[tensor], count() - 1, moved.save_s, moved.bytes});
    }
    const ChainStage& stage = chain_.stages[s];
    const bool forward = op.kind == Kind::forward;
    chain_.each_read(s, [&](std::size_t b, bool backward) {
      if (forward || backward) use(b);
    });
    if (runs_.begins(op)) loads.push_back({count(), stage.turn.load_s, stage.turn.bytes, nobody});
    if (forward) {
      maker_[s + 1] = maker_[n_ + 1 + s] = count();
    } else {
      use(n_ + 1 + s);
      if (stage.reads_output) use(s + 1);
      if (stage.turn.backward_load_s > 0)
        loads.push_back({count(), stage.turn.backward_load_s, 0, nobody});
      if (stage.turn.backward_save_s > 0)
        saves.push_back({count(), count(), stage.turn.backward_save_s, 0});
    }
    wait(forward ? stage.hand_over.forward_wait_s : stage.hand_over.backward_wait_s, op);
    seconds.push_back(forward ? stage.forward_s : stage.backward_s);
    levels.push_back(bytes);
  }

  /// Records that the next slot, a pass of the tape, waits for the last backward pass or, if it is a forward pass, for
  /// the last forward pass before. A pass that runs again does not wait, because host memory already has its input.
  void wait(double least, const TapeOp& op) {
    std::int64_t& before = before_[op.kind == Kind::forward ? 0 : 1];
    const bool again = op.kind == Kind::forward && op.number < forwards_;
    waits.push_back({before, again ? 0 : least});
    if (again) return;
    before = count();
    if (op.kind == Kind::forward) ++forwards_;
  }

  /// Records that the next slot uses a tensor. If the tensor was saved and is still on the device, it stays until this
  /// slot. In two cases, nothing is recorded: the tensor was never saved, or the slot uses a loaded copy.
  void use(std::size_t tensor) {
    if (save_[tensor] == nobody) return;
    if (TimedSave& save = saves[save_[tensor]]; count() <= save.slot + 1) save.last = count();
  }

  const Chain& chain_;
  RunsOfStages runs_;
  std::size_t n_;
  std::size_t forwards_ = 0;  ///< how many stages have run
  /// The slots of the last forward pass that did not run again, and of the last backward pass.
  std::array<std::int64_t, 2> before_ = {};
  std::vector<std::int64_t> maker_;
  std::vector<std::size_t> save_;  ///< for each tensor, the index of its last save
};

/// Decides before which slot each load is listed. If a step has a single micro-batch, the rules are those of
/// planning/training/late_loads and planning/load_places.
class LoadPlacing {
 public:
  LoadPlacing(const Chain& chain, TimedTape& tape, std::int64_t& next)
      : latency_s_(chain.load_latency_s), tape_(tape), next_(next) {}

  /// Places loads in the order in which a step needs them. If a step has several micro-batches, a load may
  /// be listed in the previous micro-batch. There, the load follows all loads that the previous micro-batch
  /// itself needs.
  void place(std::int64_t bytes, bool one_a_step) {
    wish();
    for (TimedLoad& load : tape_.loads) {
      load.at = load.slot;
      put(load, std::max<std::int64_t>(load.earliest, one_a_step ? load.earliest : 0), bytes);
    }
    for (TimedLoad& load : tape_.loads)
      if (load.at == 0) put(load, load.earliest, bytes);
    for (TimedLoad& load : tape_.loads) start(load, bytes, one_a_step);
  }

 private:
  double begin(std::int64_t slot) const {
    double time = 0;
    for (; slot < 0; slot += tape_.count()) time -= tape_.all();
    return time + tape_.begins[static_cast<std::size_t>(slot)];
  }

  std::int64_t slot_at(double time) const {
    std::int64_t ago = 0;
    if (time < 0) {
      if (time < -tape_.all() || tape_.all() <= 0) return -tape_.count();
      time += tape_.all();
      ago = tape_.count();
    }
    const auto after = std::upper_bound(tape_.begins.begin(), tape_.begins.end() - 1, time);
    return std::max<std::int64_t>(0, after - tape_.begins.begin() - 1) - ago;
  }

  void wish() {
    std::vector<TimedLoad>& loads = tape_.loads;
    std::vector<double> latest(loads.size());
    double next = never, busy = 0;
    for (const TimedLoad& load : loads) busy += load.seconds;
    for (const bool again : {false, true}) {
      if (again) next = busy <= tape_.all() ? next + tape_.all() : never;
      for (std::size_t i = loads.size(); i-- > 0;)
        next = latest[i] = std::min(next, begin(loads[i].slot) - latency_s_) - loads[i].seconds;
    }
    double free = -never;
    for (std::size_t i = 0; i < loads.size(); ++i) {
      TimedLoad& load = loads[i];
      const double sooner = begin(slot_at(latest[i]) - 1);
      const double start = std::max(sooner, std::min(free, latest[i]));
      free = start + load.seconds;
      const std::int64_t first = load.source == nobody
                                     ? 1 - tape_.count()
                                     : std::min(tape_.saves[load.source].slot + 1, load.slot);
      load.earliest = std::max(std::min(slot_at(start) + 1, load.slot), first);
    }
  }

  std::int64_t& level(std::int64_t slot) {
    return tape_.levels[static_cast<std::size_t>(slot < 0 ? slot + tape_.count() : slot)];
  }

  bool room(std::int64_t slot, const TimedLoad& load, std::int64_t bytes) {
    const std::int64_t needed = level(slot) + load.bytes;
    if (needed > bytes) next_ = std::min(next_, needed);
    return needed <= bytes;
  }

  void put(TimedLoad& load, std::int64_t earliest, std::int64_t bytes) {
    for (; load.at > earliest; --load.at) {
      std::int64_t& held = level(load.at - 1);
      if (held + load.bytes > bytes) {
        next_ = std::min(next_, held + load.bytes);
        return;
      }
      held += load.bytes;
    }
  }

  /// Decides after which slot the load starts: after slot `at` - 1, or one slot earlier if slot `at` - 1 has room.
  /// If a step has several micro-batches, the load may start more than one micro-batch early.
  void start(TimedLoad& load, std::int64_t bytes, bool one_a_step) {
    load.after = load.at - 1;
    if (load.at <= 1 - tape_.count()) {
      if (!one_a_step) load.after -= tape_.count();
      return;
    }
    if (!room(load.at - 1, load, bytes)) return;
    level(load.at - 1) += load.bytes;
    --load.after;
  }

  double latency_s_;
  TimedTape& tape_;
  std::int64_t& next_;
};

/// Simulates some consecutive micro-batches.
class TapeSimulation {
 public:
  TapeSimulation(const Chain& chain, const TimedTape& tape, std::int64_t bytes, std::int64_t& next)
      : tape_(tape),
        next_(next),
        latency_s_(chain.load_latency_s),
        bytes_(bytes),
        listed_(by_slot(tape.loads, &TimedLoad::at)),
        saves_after_(by_slot(tape.saves, &TimedSave::slot)),
        needed_(by_slot(tape.loads, &TimedLoad::slot)),
        leaves_after_(by_slot(tape.saves, &TimedSave::last)),
        arrival_(tape.loads.size()),
        next_arrival_(tape.loads.size(), -1),
        save_end_(tape.saves.size()) {
    only_computes_.reserve(tape.seconds.size());
    for (std::size_t k = 0; k < tape.seconds.size(); ++k)
      only_computes_.push_back(listed_[k].empty() && saves_after_[k].empty() &&
                               needed_[k].empty() && leaves_after_[k].empty() &&
                               tape.waits[k].seconds <= 0);
  }

  /// Returns for each micro-batch the time at which its computation ends.
  std::vector<double> run(std::int64_t micro_batches) {
    std::vector<double> done;
    ends_.reserve(static_cast<std::size_t>(micro_batches * tape_.count()));
    releases_.reserve(static_cast<std::size_t>(micro_batches) * tape_.saves.size());
    for (std::size_t i = 0; i < tape_.loads.size(); ++i)
      if (tape_.loads[i].at < 0) load(i, next_arrival_, /*first=*/true);
    for (std::int64_t m = 0; m < micro_batches; ++m) {
      std::swap(arrival_, next_arrival_);
      last_ = m + 1 == micro_batches;
      for (std::int64_t slot = 0; slot < tape_.count(); ++slot) step(slot);
      done.push_back(computed_);
    }
    return done;
  }

 private:
  /// Returns the index of a slot in the vectors of `tape_`. A negative number means a slot of an earlier micro-batch.
  /// All micro-batches have the same slots, so slot -1 has the index of the last slot.
  std::size_t place(std::int64_t slot) const {
    while (slot < 0) slot += tape_.count();  // at most a few times
    return static_cast<std::size_t>(slot);
  }

  template <typename Copy>
  IndicesBySlot by_slot(const std::vector<Copy>& copies, std::int64_t Copy::*slot) const {
    return {static_cast<std::size_t>(tape_.count()), copies.size(),
            [&](std::size_t i) { return place(copies[i].*slot); }};
  }

  void step(std::int64_t slot) {
    const std::size_t k = place(slot);
    if (only_computes_[k]) {
      ends_.push_back(computed_ = room(tape_.levels[k], computed_) + tape_.seconds[k]);
      return;
    }
    for (const bool next : {false, true})
      for (const std::size_t i : listed_[k])
        if ((tape_.loads[i].at < 0) == next && !(next && last_))
          load(i, next ? next_arrival_ : arrival_, /*first=*/false);
    double start = room(tape_.levels[k], computed_);
    for (const std::size_t i : needed_[k]) start = std::max(start, arrival_[i]);
    if (const TimedTape::Wait& wait = tape_.waits[k]; wait.seconds > 0)
      start = std::max(
          start, ends_[ends_.size() - static_cast<std::size_t>(slot - wait.slot)] + wait.seconds);
    ends_.push_back(computed_ = start + tape_.seconds[k]);
    for (const std::size_t i : saves_after_[k])
      save_end_[i] = saved_ = std::max(saved_, computed_) + tape_.saves[i].seconds;
    for (const std::size_t i : leaves_after_[k]) {
      releases_.push_back({save_end_[i], tape_.saves[i].bytes});
      pending_bytes_ += tape_.saves[i].bytes;
    }
  }

  /// Simulates a load. The numbers of the load's slots count from the start of the micro-batch that needs the load.
  /// This is the present micro-batch, or the next micro-batch if the load is listed one micro-batch early.
  void load(std::size_t i, std::vector<double>& arrivals, bool first) {
    const TimedLoad& load = tape_.loads[i];
    double start = loaded_;
    if (!first) {
      const auto base = static_cast<std::int64_t>(ends_.size()) -
                        (load.at < 0 ? load.at + tape_.count() : load.at) +
                        (load.at < 0 ? tape_.count() : 0);
      const auto at = [&](const std::vector<double>& times, std::int64_t slot) {
        const std::int64_t index = base + slot;
        return index < 0 || times.empty()
                   ? 0
                   : times[std::min(static_cast<std::size_t>(index), times.size() - 1)];
      };
      start = std::max(start, at(ends_, load.after));
      if (load.source != nobody) start = std::max(start, save_end_[load.source]);
      start = room(tape_.levels[place(std::min(load.after + 1, load.slot))], start);
    }
    loaded_ = start + load.seconds;
    arrivals[i] = loaded_ + latency_s_;
  }

  /// Returns the first time, not before `from`, with room for `level` bytes and for the tensors whose saves still run.
  double room(std::int64_t level, double from) {
    for (; released_ < releases_.size() && releases_[released_].end <= computed_; ++released_)
      pending_bytes_ -= releases_[released_].bytes;
    if (level + pending_bytes_ <= bytes_) return from;
    std::int64_t held = 0;
    for (std::size_t i = released_; i < releases_.size(); ++i)
      if (releases_[i].end > from) held += releases_[i].bytes;
    for (std::size_t i = released_; i < releases_.size() && level + held > bytes_; ++i) {
      if (releases_[i].end <= from) continue;
      next_ = std::min(next_, level + held);
      from = releases_[i].end;
      held -= releases_[i].bytes;
    }
    return from;
  }

  struct PendingRelease {
    double end;
    std::int64_t bytes;
  };

  const TimedTape& tape_;
  std::int64_t& next_;
  double latency_s_;
  std::int64_t bytes_;
  IndicesBySlot listed_, saves_after_, needed_, leaves_after_;
  /// Indexed by slot: whether the slot has no copies, and does not wait for another device. Most slots are such.
  std::vector<char> only_computes_;
  std::vector<double> arrival_, next_arrival_, save_end_, ends_;
  std::vector<PendingRelease> releases_;
  std::size_t released_ = 0;
  /// The bytes on the device that leave only when their save has ended.
  std::int64_t pending_bytes_ = 0;
  double computed_ = 0, loaded_ = 0, saved_ = 0;  ///< the times at which the engines become free
  bool last_ = false;
};

}  // namespace

EstimatedSeconds estimated_seconds(const Chain& chain, const Tape& tape, const TapeMemory& memory,
                                   std::int64_t bytes, double micro_batches, bool one_a_step) {
  constexpr double walked = 4;
  EstimatedSeconds about{0, std::numeric_limits<std::int64_t>::max()};
  TimedTape timed(chain, tape, memory);
  LoadPlacing(chain, timed, about.next).place(bytes, one_a_step);
  const double some = std::min(micro_batches, walked);
  const std::vector<double> done =
      TapeSimulation(chain, timed, bytes, about.next).run(static_cast<std::int64_t>(some));
  const double each = done.size() > 1 ? done.back() - done[done.size() - 2] : done.back();
  about.seconds =
      done.back() + (micro_batches - some) * std::max(each, engine_seconds(chain, tape).busiest());
  return about;
}

}  // namespace sluice
