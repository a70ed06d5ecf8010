// A rehearsal of streamed inference computes the order in which a device's copy engine loads weights and inputs. The
// rehearsal also computes the time at which each load may start, and the seconds of the run. A rehearsal is only
// arithmetic on a few arrays, so hundreds of choices can be compared.
//
// The order of loads is as follows. When the copy engine is free, it loads the next input if a buffer is free for this
// input. If no buffer is free, the copy engine loads the next piece of weights if there is room for this piece. So
// weights come in the order in which groups need them and as early as memory allows, but inputs come before weights.
// With `inputs_first`, the copy engine loads no weights for a later run than the next input's run, but waits until the
// input can be loaded. A long transfer of weights then never delays this input.
//
// A buffer is room for an input or a result that is being transferred. While a group runs, the device has room for up
// to `buffers` inputs and up to `buffers` results. The rehearsal is for a memory of `bytes()` bytes. If the memory has
// no room for all buffers of a run, and StreamedChoice::spares is true, the run has only as many buffers as fit.
// Besides these buffers, there is always room for the input and the result of the slot that is computed.
//
// Memory is never exceeded. Each load is listed before a slot, and starts when the previous slot has been computed. So
// a piece of weights is on the device from the slot before which it is listed to the end of its group's run. The bytes
// during each slot are therefore known before the run. Each load is listed late enough to keep these bytes within
// `bytes()`. Weights that stay have their room during the whole run. With several steps, these weights are loaded in
// the prologue. With a single step, they are loaded when the first pass needs them. In a pool of `bytes()` bytes, no
// action ever waits for memory, and a larger pool changes nothing. So seconds() is the time of the plan on every device
// with `bytes()` bytes or more. This time is exact if no link is used in both directions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "planning/streaming/run_levels.hpp"

namespace sluice {

/// A load of a step. Slots are counted from the first slot of the step. A negative slot belongs to the previous step.
struct RehearsedLoad {
  static constexpr std::int32_t input = -1;
  std::size_t run = 0;         ///< the index of the run that needs the load
  std::int64_t slot = 0;       ///< the first slot that needs the load
  std::int32_t piece = input;  ///< the index of the piece of the group's weights, or `input`
  std::int64_t at = 0;         ///< the load is listed before this slot
  double seconds = 0;          ///< the seconds for which the load occupies the copy engine
  /// Whether this load of an input starts one slot earlier than `at` says. It then also waits until all earlier results
  /// have left the device.
  bool replaces_results = false;

  bool operator==(const RehearsedLoad&) const = default;
};

/// The loads of a step, in the order in which the copy engine makes them. If weights that stay are loaded in a step and
/// not before the first step, their loads are among them.
struct RehearsedOrder {
  std::vector<RehearsedLoad> loads;
  /// The order of loads is the same for every size of the device's memory from `used` to the rehearsal's bytes(). The
  /// order needs at most `used` bytes, and often a few bytes less.
  std::int64_t used = 0;
};

/// The passes of a step with StreamedCase::repeats_passes(), divided into equal rounds.
struct PassRounds {
  std::int64_t before = 0;  ///< the number of micro-batches before the first round
  std::int64_t size = 1;    ///< the number of micro-batches in a round
  std::int64_t count = 0;   ///< the number of rounds
};
/// A step that has only some of these rounds.
struct SomeRounds {
  std::int64_t passes = 1;  ///< the number of passes in a round
  std::int64_t count = 0;   ///< the number of rounds
};
/// Returns the rounds of a step if each of them has this number of passes.
PassRounds pass_rounds(const StreamedCase& streamed, const StreamedChoice& choice,
                       std::int64_t passes);
/// Returns shorter steps whose middle round may stand for all later rounds of the step, the shortest first. Returns
/// nothing if the step has few rounds, or if its passes are not repeated.
std::vector<SomeRounds> shorter_steps(const StreamedCase& streamed, const StreamedChoice& choice);
/// A round that stands for many.
struct RepeatedRound {
  std::int64_t first_slot = 0, slots = 0;
  std::int64_t times = 0;   ///< the number of rounds from this round to the end of the step
  std::int64_t listed = 0;  ///< the number of rounds from this round to the end of the shorter step
  std::int64_t compared = 0;  ///< how many of these must be equal
};
/// Returns the middle round of a shorter step.
RepeatedRound repeated_round(const StreamedCase& streamed, const StreamedChoice& choice,
                             const SomeRounds& some);
/// Returns the runs of a step, or of a shorter step.
std::vector<GroupRun> runs_of(const StreamedCase& streamed, const StreamedChoice& choice,
                              const std::optional<SomeRounds>& shorter = {});

class Rehearsal {
 public:
  /// `streamed` must outlive this object. If `shorter` is given, all numbers of runs, slots and seconds are those of
  /// this step.
  Rehearsal(const StreamedCase& streamed, const StreamedChoice& choice,
            const std::optional<SomeRounds>& shorter = {});
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;
  /// Sets the bytes that early loads may use. If the choice has StreamedChoice::spares, these bytes
  /// also determine the number of buffers of each run.
  void set_ahead(std::int64_t bytes);

  /// Returns the bytes of memory that the choice needs, with early loads.
  std::int64_t bytes() const { return bytes_with(choice_.ahead); }
  /// Returns what bytes() would return after set_ahead(ahead).
  std::int64_t bytes_with(std::int64_t ahead) const { return levels_.least() + ahead; }
  const std::vector<GroupRun>& runs() const { return runs_; }
  /// Returns the number of slots of a step.
  std::int64_t slots() const { return runs_.back().last_slot() + 1; }

  /// Returns a lower bound of the seconds of the run. The bound holds for every order of loads that choice() allows.
  double at_least() const;

  RehearsedOrder order() const;
  /// Returns the makespan of the run with these loads.
  double seconds(const std::vector<RehearsedLoad>& loads) const;

  /// Returns whether the inputs of this run's slots are loaded. If not, the device itself has made them.
  bool loads_input(const GroupRun& run) const { return levels_.loads_input(run); }
  /// saves() returns whether the results of this run's slots are saved to host memory. saves_answers() returns whether
  /// these saved results are answers or parts of answers.
  bool saves(const GroupRun& run) const { return levels_.saves(run); }
  bool saves_answers(const GroupRun& run) const;
  /// Returns the object that knows the bytes on the device during each run.
  const RunLevels& levels() const { return levels_; }
  /// saves_before() returns the number of saves in a step before this run. saves_of_step() returns the number of saves
  /// in a whole step.
  std::int64_t saves_before(std::size_t run) const { return saves_before_[run]; }
  std::int64_t saves_of_step() const { return saves_before_.back(); }
  /// save_seconds() returns the seconds to save one result of this run to host memory. input_seconds() returns the
  /// seconds to load one input of this run.
  double save_seconds(const GroupRun& run) const { return save_copy(run).seconds; }
  double input_seconds(const GroupRun& run) const { return input_copy(run).seconds; }
  /// A copy of one input or one result: for how long it occupies its copy engine, its latency, and the index of the
  /// engine (RealCopies).
  struct Copy {
    double seconds = 0, latency_s = 0;
    std::size_t engine = 0;
  };
  Copy save_copy(const GroupRun& run) const;
  Copy input_copy(const GroupRun& run) const;

  const StreamedCase& streamed() const { return streamed_; }
  const StreamedChoice& choice() const { return choice_; }
  /// Returns the bytes on the device, without weights for later runs, while slot `m` of the run is computed.
  std::int64_t level(std::size_t run, std::int64_t m) const { return levels_.at(run, m); }
  /// Returns the sizes of the pieces of a group's weights. The pieces that stay come first.
  const std::vector<std::int64_t>& pieces(std::size_t group) const { return pieces_[group].bytes; }
  /// Returns how many of the group's pieces stay on the device.
  std::size_t kept(std::size_t group) const { return pieces_[group].kept; }
  /// Returns the index of the first piece that each step loads for this run. The pieces before it stay: they are loaded
  /// before the first step, or during the first pass.
  std::size_t first_piece(const GroupRun& run) const {
    return run.pass == 0 && !kept_in_prologue(streamed_) ? 0 : kept(run.group);
  }
  /// `loads` are the loads of every step. Returns the loads before the first step: the early loads of this step, in
  /// their order, and the loads of weights that stay, unless the first pass loads these. If weights of a group
  /// stay, they are loaded before the early loads for later groups.
  std::vector<RehearsedLoad> prologue(const std::vector<RehearsedLoad>& loads) const;

 private:
  std::vector<std::int64_t> constant() const;
  const StreamedCase& streamed_;
  StreamedChoice choice_;
  std::vector<GroupRun> runs_;
  std::vector<GroupPieces> pieces_;  ///< indexed by group
  std::vector<std::int64_t> turns_;  ///< the bytes of weights that take turns, indexed by group
  /// Indexed by run: the number of saves in a step before the run. The last element is the number of all saves of a
  /// step.
  std::vector<std::int64_t> saves_before_;
  RunLevels levels_;
};

/// The whole step of a choice, with its loads in order. If the step is long and most of its rounds are alike, only a
/// few of them are rehearsed.
class RehearsedStep {
 public:
  /// `streamed` must outlive this object.
  RehearsedStep(const StreamedCase& streamed, const StreamedChoice& choice);
  /// Returns Rehearsal::at_least() of the whole step.
  static double at_least(const StreamedCase& streamed, const StreamedChoice& choice);

  /// The rehearsed part of the step, or the whole step.
  const Rehearsal& rehearsal() const { return *rehearsal_; }
  const RehearsedOrder& order() const { return order_; }
  double seconds() const;  ///< the makespan of the whole run

  /// The round whose loads are the same in all later rounds, if only a few rounds are rehearsed.
  const std::optional<RepeatedRound>& repeated() const { return repeated_; }

 private:
  bool repeat(const SomeRounds& some);
  bool repeat_loads(const SomeRounds& some);
  std::optional<double> round_seconds(const SomeRounds& some) const;

  const StreamedCase& streamed_;
  StreamedChoice choice_;
  std::unique_ptr<Rehearsal> rehearsal_;
  RehearsedOrder order_;
  std::optional<RepeatedRound> repeated_ = {};
  double round_s_ = 0;  ///< the seconds of each repeated round that is not rehearsed
};

}  // namespace sluice
