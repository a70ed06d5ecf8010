// A rehearsal of streamed inference computes in which order a device's copy engine loads weights
// and inputs, when each load may start, and how long the run then takes. It is arithmetic on a few
// arrays, so that hundreds of choices can be compared before one of them becomes a plan.
//
// The order of loads is as follows. Whenever the copy engine is free, it loads the next input if a buffer is free for
// it. Otherwise it loads the next piece of weights for which there is room. So weights come in the order in which they
// are needed, as early as memory allows, while no input is waiting for the engine.
//
// Buffers are room for what is being transferred. While a group runs, the device has room for up to `buffers` inputs
// and for as many results. If the choice spares buffers, it has only as many as fit into `bytes()`, but at least one
// for the slot's own input and result.
//
// Memory is never exceeded. Each load names the slot (a micro-batch in a group) before which it is listed.
// It starts when the previous slot has been computed. A piece of weights is on the device from this slot to
// the end of its group's run. So the bytes during each slot are known before anything runs, and each load
// is placed where these bytes stay within `bytes()`. Weights that stay have their room during the whole
// run. In a single step they are loaded when its first pass needs them; before many steps they are loaded
// in the prologue. A pool of `bytes()` never delays an action, and a larger one changes nothing: seconds()
// is the time of the plan on any device with that much memory. It is exact if no link is used in both
// directions.
#pragma once

#include <cstdint>
#include <vector>

#include "planning/streaming/run_levels.hpp"

namespace sluice {

/// A transfer to the device within a step. Slots are counted in that step; a negative slot belongs to the previous
/// step.
struct RehearsedLoad {
  static constexpr std::int32_t input = -1;
  std::size_t run = 0;         ///< number of the run of a group that needs it
  std::int64_t slot = 0;       ///< the first slot that needs it
  std::int32_t piece = input;  ///< number of the piece of the group's weights, or `input`
  std::int64_t at = 0;         ///< it is listed before this slot
  double seconds = 0;          ///< seconds of the copy engine
  /// Whether an input starts one slot earlier than `at` says, when all results of the slots before that one have left.
  bool replaces_results = false;
};

/// The loads of a step, in the order of the copy engine. They include weights that stay, if these
/// are loaded in the step.
struct RehearsedOrder {
  std::vector<RehearsedLoad> loads;
  /// The order stays the same with this many bytes or more. The number is what the order uses, or a little more.
  std::int64_t used = 0;
};

class Rehearsal {
 public:
  /// `streamed` must outlive this.
  Rehearsal(const StreamedCase& streamed, const StreamedChoice& choice);
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;
  /// Sets how many bytes loads ahead and buffers may use.
  void set_ahead(std::int64_t bytes);

  /// Bytes on the device that the choice needs, including loads ahead.
  std::int64_t bytes() const { return bytes_with(choice_.ahead); }
  /// The bytes on the device that the choice needs if loads ahead and buffers may use this many bytes.
  std::int64_t bytes_with(std::int64_t ahead) const { return levels_.least() + ahead; }
  const std::vector<GroupRun>& runs() const { return runs_; }
  /// The number of slots of a step.
  std::int64_t slots() const { return runs_.back().last_slot() + 1; }

  /// A lower bound of the seconds: no execution of this choice is faster, whatever the order of its loads.
  double at_least() const;

  RehearsedOrder order() const;
  /// The makespan of the run with these loads.
  double seconds(const std::vector<RehearsedLoad>& loads) const;

  /// Whether the input of this run's slots comes by a transfer. Otherwise the device has made it.
  bool loads_input(const GroupRun& run) const { return levels_.loads_input(run); }
  /// Whether the results of this run's slots go to host memory.
  bool saves(const GroupRun& run) const { return levels_.saves(run); }
  /// What is on the device during each run.
  const RunLevels& levels() const { return levels_; }
  /// The number of saves of a step before this run, and of the whole step.
  std::int64_t saves_before(std::size_t run) const { return saves_before_[run]; }
  std::int64_t saves_of_step() const { return saves_before_.back(); }
  /// The slot whose result this save of a step moves.
  std::int64_t slot_of_save(std::int64_t number) const;
  /// Seconds to save one result of this run to host memory, and seconds to load one input.
  double save_seconds(const GroupRun& run) const;
  double input_seconds(const GroupRun& run) const;

  const StreamedCase& streamed() const { return streamed_; }
  const StreamedChoice& choice() const { return choice_; }
  /// Bytes on the device while slot `m` of the run is computed, without weights loaded ahead.
  std::int64_t level(std::size_t run, std::int64_t m) const { return levels_.at(run, m); }
  /// All weights of a group; those that stay come first.
  const std::vector<std::int64_t>& pieces(std::size_t group) const { return pieces_[group].bytes; }
  /// The number of pieces of a group that stay on the device.
  std::size_t kept(std::size_t group) const { return pieces_[group].kept; }
  /// The number of the first piece of the group that is loaded for this run of a step.
  std::size_t first_piece(const GroupRun& run) const {
    return run.pass == 0 && !kept_in_prologue(streamed_) ? 0 : kept(run.group);
  }
  /// Returns what is listed before the first step if every step has these loads. It has the loads that the first step
  /// needs early, in their order. It also has the weights that stay: each is listed before the first early load that is
  /// needed after it.
  std::vector<RehearsedLoad> prologue(const std::vector<RehearsedLoad>& loads) const;

 private:
  std::vector<std::int64_t> constant() const;
  const StreamedCase& streamed_;
  StreamedChoice choice_;
  std::vector<GroupRun> runs_;
  std::vector<GroupPieces> pieces_;         ///< indexed by group
  std::vector<std::int64_t> turns_;         ///< per group: bytes of weights that do not stay
  std::vector<std::int64_t> saves_before_;  ///< per run, and at the end for the whole step
  RunLevels levels_;
};

}  // namespace sluice
