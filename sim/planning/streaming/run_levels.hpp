// Computes how many bytes are on the device during each run of a group (groups.hpp). For each run, it also decides how
// many inputs of later slots, and how many results of earlier slots, may be on the device. Only Rehearsal uses this
// class.
#pragma once

#include <cstdint>
#include <vector>

#include "planning/streaming/groups.hpp"

namespace sluice {

class RunLevels {
 public:
  /// `constant` holds for each group the bytes that are on the device during its whole run (Rehearsal::constant()). The
  /// other parameters must outlive this object. With `goes_on`, the step has more passes than `runs`, and the last
  /// passes of `runs` are like those before them.
  RunLevels(const StreamedCase& streamed, const StreamedChoice& choice,
            const std::vector<GroupRun>& runs, std::vector<std::int64_t> constant, bool goes_on);

  /// Returns the fewest bytes of memory that the choice needs. If the choice has
  /// StreamedChoice::spares, these bytes include the input and the result of the slot that is
  /// computed, but no buffers for other slots. Otherwise they include all buffers.
  std::int64_t least() const { return least_; }
  /// Returns how many bytes more than least() are needed if each run has room for this many inputs and results of other
  /// slots.
  std::int64_t more_for(std::int64_t inputs, std::int64_t results) const;
  /// Sets for each run how many inputs and results of other slots may be on the device: as many as fit into `bytes`
  /// bytes. There are at most `buffers` - 1 inputs and `buffers` - 1 results, or `buffers` results if the run saves
  /// none of its own.
  void set_room(std::int64_t bytes);
  /// Returns the most bytes that the device holds at one moment, with the numbers of the last set_room().
  std::int64_t most() const { return most_; }

  /// Returns the bytes on the device, without weights for later runs, while slot `m` of this run is computed. The run's
  /// first slot is slot 0.
  std::int64_t at(std::size_t run, std::int64_t m) const;
  /// Returns the least that at() can return after any set_room(). If the choice has
  /// StreamedChoice::spares, only the input and the result of the slot itself are included, because
  /// a small memory has no room for others.
  std::int64_t least_at(std::size_t run, std::int64_t m) const;
  /// While a slot of this run is computed, at most inputs() inputs of later slots may be on the device, and at most
  /// results() results of earlier slots may be in transfer.
  std::int64_t inputs(std::size_t run) const { return memories_[run].inputs; }
  std::int64_t results(std::size_t run) const { return memories_[run].results; }
  /// Returns whether this run has too little room for the results that may still be in transfer at the end of the
  /// previous run. If so, the first loads of this run wait for these results.
  bool waits_for_results(std::size_t run) const { return memories_[run].waits; }

  bool loads_input(const GroupRun& run) const {
    return run.group == 0 || choice_.offloads(run.group - 1);
  }
  bool saves(const GroupRun& run) const {
    if (!is_last(run) && choice_.offloads(run.group)) return true;
    return streamed_.returns_answers &&
           (is_last(run) || streamed_.groups[run.group].bytes.answer > 0);
  }
  /// Returns the bytes that each slot of the run saves: the tensors for the next group, an answer, or a part of an
  /// answer.
  std::int64_t saved_bytes(const GroupRun& run) const {
    const StageBytes& bytes = streamed_.groups[run.group].bytes;
    return is_last(run) || choice_.offload ? bytes.output : bytes.answer;
  }

 private:
  struct RunMemory {
    std::int64_t bytes = 0;
    /// The bytes of one input (`in`) and one output (`out`), if the device also holds inputs and outputs of the run's
    /// other slots. Otherwise 0.
    std::int64_t in = 0, out = 0;
    std::int64_t inputs = 0, results = 0;
    std::int64_t result_bytes = 0;  ///< the bytes of all results that `results` counts
    bool waits = false;
  };
  class LaterInputs;
  class EarlierResults;
  bool is_last(const GroupRun& run) const { return run.group + 1 == streamed_.groups.size(); }
  std::int64_t most_inputs() const { return streamed_.overlap ? choice_.buffers - 1 : 0; }
  std::int64_t most_results(const GroupRun& run) const;
  RunMemory memory_of_run(std::size_t run, std::int64_t inputs, std::int64_t results) const;
  RunMemory roomiest(std::size_t run, std::int64_t bytes) const;
  std::int64_t peak(std::size_t run, const RunMemory& memory) const;
  std::int64_t level(const RunMemory& memory, std::int64_t count, std::int64_t m) const;
  bool like_the_pass_before(const GroupRun& run) const;
  bool must_wait(std::size_t run) const;

  const StreamedCase& streamed_;
  const StreamedChoice& choice_;
  const std::vector<GroupRun>& runs_;
  std::vector<std::int64_t> constant_;
  bool goes_on_;
  std::vector<RunMemory> memories_;
  /// Indexed by run: the last earlier run that saves its results, perhaps a run of the previous step.
  std::vector<std::size_t> saver_before_;
  /// The number of groups that save their results, or parts of them.
  std::int64_t saving_groups_ = 0;
  std::int64_t least_ = 0, most_ = 0;
};

}  // namespace sluice
