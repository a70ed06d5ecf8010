// A rehearsal of streamed inference: in which order a device's copy engine brings weights and
// inputs, when each load may start, and how long the run then takes. It is arithmetic on a few
// arrays, so that hundreds of choices can be compared before one becomes a plan.
//
// The order. Whenever the copy engine is free it brings the next input if that may come already
// (its run has a buffer for it), else the next piece of weights that has room: first what is
// needed first, as early as memory allows, and into the time that inputs leave idle.
//
// Buffers. Beside each run of a group there are up to `buffers` inputs and as many results that
// transfers work on; where the choice spares them, as many as `bytes()` has room for, at least its
// own.
//
// Memory. Each load names the slot (a micro-batch in a group) at whose head it stands, and starts
// when the slot before that has been computed. A piece of weights is on the device from its slot to
// the end of its group's run; so what is there while a slot runs is known before anything runs, and
// a load stands where that sum stays within `bytes()`. Weights that stay have their room from the
// start to the end: in a single step they come when its first pass needs them, before the first of
// many steps in the prologue. A pool of so many bytes never delays anything, and a larger one
// changes nothing: seconds() are those of the plan on any device with that much memory. They are
// exact where no link is shared by both directions.
#pragma once

#include <cstdint>
#include <vector>

#include "planning/streaming/run_levels.hpp"

namespace sluice {

/// A transfer to the device within a step. Slots are those of that step; negative: the step before.
struct RehearsedLoad {
  static constexpr std::int32_t input = -1;
  std::size_t run = 0;         ///< number of the run of a group that needs it
  std::int64_t slot = 0;       ///< that needs it first
  std::int32_t piece = input;  ///< number within the group's weights, or the input of its slot
  std::int64_t at = 0;         ///< stands at the head of this slot
  double seconds = 0;          ///< of the copy engine
};

/// The loads of a step, in the order of the copy engine; weights that stay are among them where
/// they come in the step.
struct RehearsedOrder {
  std::vector<RehearsedLoad> loads;
  /// With so many bytes, or more, the order is the same: the most that it holds, or a little more.
  std::int64_t used = 0;
};

class Rehearsal {
 public:
  /// `streamed` must outlive this.
  Rehearsal(const StreamedCase& streamed, const StreamedChoice& choice);
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;
  /// The same with so many bytes for loads ahead and for buffers.
  void set_ahead(std::int64_t bytes);

  /// Bytes on the device that the choice needs, loads ahead included.
  std::int64_t bytes() const { return bytes_with(choice_.ahead); }
  /// The same with so many bytes for loads ahead and for buffers.
  std::int64_t bytes_with(std::int64_t ahead) const { return levels_.least() + ahead; }
  const std::vector<GroupRun>& runs() const { return runs_; }
  /// Slots of a step.
  std::int64_t slots() const { return runs_.back().last_slot() + 1; }

  /// No execution of this choice is faster, whatever the order of its loads.
  double at_least() const;

  RehearsedOrder order() const;
  /// The makespan of the run with these loads.
  double seconds(const std::vector<RehearsedLoad>& loads) const;

  /// Does a transfer bring the input of this run's slots, or is it made on the device?
  bool loads_input(const GroupRun& run) const { return levels_.loads_input(run); }
  /// Does the result of this run's slots go to host memory?
  bool saves(const GroupRun& run) const { return levels_.saves(run); }
  /// What is there beside each run.
  const RunLevels& levels() const { return levels_; }
  /// Saves of a step before this run; of the whole step.
  std::int64_t saves_before(std::size_t run) const { return saves_before_[run]; }
  std::int64_t saves_of_step() const { return saves_before_.back(); }
  /// The slot whose result this save of a step takes.
  std::int64_t slot_of_save(std::int64_t number) const;
  /// Seconds that the save of a result of this run takes, and that the load of an input does.
  double save_seconds(const GroupRun& run) const;
  double input_seconds(const GroupRun& run) const;

  const StreamedCase& streamed() const { return streamed_; }
  const StreamedChoice& choice() const { return choice_; }
  /// Bytes on the device while slot `m` of the run is computed, without weights loaded ahead.
  std::int64_t level(std::size_t run, std::int64_t m) const { return levels_.at(run, m); }
  /// All weights of a group, those that stay first.
  const std::vector<std::int64_t>& pieces(std::size_t group) const { return pieces_[group].bytes; }
  /// So many of them stay.
  std::size_t kept(std::size_t group) const { return pieces_[group].kept; }
  /// From which one on the pieces of its group are loaded for this run of a step.
  std::size_t first_piece(const GroupRun& run) const {
    return run.pass == 0 && !kept_in_prologue(streamed_) ? 0 : kept(run.group);
  }
  /// What is listed before the first step, with these loads of every step: weights that stay, each
  /// before the first load that is not needed sooner, and those of its loads that come ahead of it.
  std::vector<RehearsedLoad> prologue(const std::vector<RehearsedLoad>& loads) const;

 private:
  std::vector<std::int64_t> constant() const;
  const StreamedCase& streamed_;
  StreamedChoice choice_;
  std::vector<GroupRun> runs_;
  std::vector<GroupPieces> pieces_;         ///< indexed by group
  std::vector<std::int64_t> turns_;         ///< per group: bytes of weights that do not stay
  std::vector<std::int64_t> saves_before_;  ///< by run, then those of a step
  RunLevels levels_;
};

}  // namespace sluice
