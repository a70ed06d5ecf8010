// Computes the times of a streamed run with given loads, step by step in the listing order of its plan. A replay of the
// plan gives the same times. If the plan is for a shown machine, the clock computes lower bounds of the times on the
// real machine (planning/placement/backing.hpp). On the real machine, inputs and weights from host memory share links.
// The clock counts only one effect of this sharing: a slot starts at the earliest when a shared link could have carried
// all inputs and weights up to this slot. Only Rehearsal uses this class.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "planning/streaming/rehearsal.hpp"

namespace sluice {

class RunClock {
 public:
  RunClock(const Rehearsal& rehearsal, const std::vector<RehearsedLoad>& loads);
  double makespan();
  /// For a run of a single step, after makespan(): compares the slots from `first` on with the slots before them,
  /// `slots` of each. If each slot, and each copy that is listed before it, ends the same number of seconds later than
  /// `slots` slots earlier, returns this number.
  std::optional<double> period(std::int64_t first, std::int64_t slots) const;

 private:
  struct Listed {  ///< a load that is listed before a slot
    std::int64_t slot = 0;
    bool next_step = false;
    std::size_t load = 0;
  };
  /// The times at which computations and copies of one step have ended. `computed`, `input` and `saved` are indexed by
  /// slot, `weights` by run.
  struct Step {
    std::vector<double> computed, input, saved, weights;
  };
  using Engines = std::array<double, RealCopies::engines>;  ///< a time for each copy engine
  void begin_weights();
  void begin(const RehearsedLoad& load);
  double begun(const RehearsedLoad& load) const;
  void prologue();
  void load_from(const RehearsedLoad& load, double start, Step& step);
  double shared_until(const GroupRun& run, std::int64_t slot);
  void step(bool last);
  void bring(const Listed& listed, std::size_t number);
  void compute(const GroupRun& run, std::size_t number, std::int64_t slot);
  double computed_before(std::int64_t slot) const;
  double results_left(std::size_t run) const;
  void end_step();
  /// Returns whether the same number of seconds lies between the end of each slot of the previous step and the end of
  /// this slot in the present step. Sets `*period` to this number.
  bool repeats(const Engines& free_before, double* period) const;
  double everything_alone() const;
  std::size_t at(std::int64_t slot) const { return static_cast<std::size_t>(slot); }

  const Rehearsal& rehearsal_;
  const StreamedCase& streamed_;
  const std::vector<RehearsedLoad>& loads_;
  std::vector<Listed> listed_;
  Step before_, now_, next_;
  std::vector<double> save_there_;  ///< the arrivals of the last saves, as a ring buffer
  std::size_t saves_ = 0;
  double compute_free_ = 0, makespan_ = 0;
  Engines free_{};  ///< when each copy engine is free (RealCopies)
  /// If the plan is for a shown machine, each piece of a group's weights is first copied from host memory into the
  /// second memory of the real device. This list has the times at which the pieces arrive there, indexed by group and
  /// number of the piece.
  std::vector<std::vector<double>> begun_;
  /// The seconds for which the shared link has carried inputs and weights so far.
  double shared_s_ = 0;
  bool first_step_ = true;
};

}  // namespace sluice
