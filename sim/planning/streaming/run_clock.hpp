// Computes the times of a streamed run with given loads, step by step in the listing order of its plan. The replay of
// the plan gives equal times. If the plan is for a shown machine, the times are for the real machine
// (planning/placement/backing.hpp). There, inputs and weights from host memory share links. The clock only counts the
// seconds of a shared link for the bytes of these copies. The real times may be longer. Only Rehearsal uses this class.
#pragma once

#include <array>
#include <vector>

#include "planning/streaming/rehearsal.hpp"

namespace sluice {

class RunClock {
 public:
  RunClock(const Rehearsal& rehearsal, const std::vector<RehearsedLoad>& loads);
  double makespan();

 private:
  struct Listed {  ///< a load that is listed before a slot
    std::int64_t slot = 0;
    bool next_step = false;
    std::size_t load = 0;
  };
  /// Times of one step, indexed by slot or by run.
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
  /// Compares this step with the previous step. Returns whether every slot takes equally long. Sets `period` to the
  /// time of a step.
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
  /// The times at which weights have arrived in the second memory, indexed by group and piece.
  std::vector<std::vector<double>> begun_;
  /// The seconds of the shared link for all inputs and weights so far.
  double shared_s_ = 0;
  bool first_step_ = true;
};

}  // namespace sluice
