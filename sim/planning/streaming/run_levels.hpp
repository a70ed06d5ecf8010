// Computes the bytes on the device during each run of a group (groups.hpp). Also decides how many inputs of later slots
// and how many results of earlier slots may be on the device during the run. Only Rehearsal uses this class.
#pragma once

#include <cstdint>
#include <vector>

#include "planning/streaming/groups.hpp"

namespace sluice {

class RunLevels {
 public:
  /// `constant` holds for each group the bytes on the device during a run. The bytes of boundaries do not count. The
  /// other parameters must outlive this object.
  RunLevels(const StreamedCase& streamed, const StreamedChoice& choice,
            const std::vector<GroupRun>& runs, std::vector<std::int64_t> constant);

  /// Returns the most bytes that must be on the device at once. If the choice spares buffers, these bytes count only
  /// the slot's own input and result. Otherwise, they count all buffers.
  std::int64_t least() const { return least_; }
  /// Each run gets room for this many inputs and results of other slots. Returns the bytes by which least() grows.
  std::int64_t more_for(std::int64_t inputs, std::int64_t results) const;
  /// Sets for each run how many inputs and results of other slots may be on the device. The run then needs at most
  /// `bytes` bytes. A run without saves may have `buffers` results. All other limits are `buffers` - 1.
  void set_room(std::int64_t bytes);
  /// Returns the most bytes that are on the device at once after set_room().
  std::int64_t most() const { return most_; }

  /// Returns the bytes while slot `m` of this run is computed. Slots count from 0. Early weights are not counted.
  std::int64_t at(std::size_t run, std::int64_t m) const;
  /// Returns the least value that at() can have after any set_room(). If the choice spares buffers, this value counts
  /// only the slot's own input and result: a small room has place for no others.
  std::int64_t least_at(std::size_t run, std::int64_t m) const;
  /// Return the limits while a slot of this run is computed. inputs() limits the inputs of later slots on the device.
  /// results() limits the results of earlier slots in transfer.
  std::int64_t inputs(std::size_t run) const { return memories_[run].inputs; }
  std::int64_t results(std::size_t run) const { return memories_[run].results; }
  /// At the end of the previous run, results may be on their way to host memory. Returns whether this run has too
  /// little room for them. If so, the first loads of this run wait for these results.
  bool waits_for_results(std::size_t run) const { return memories_[run].waits; }

  bool loads_input(const GroupRun& run) const { return run.group == 0 || choice_.offload; }
  bool saves(const GroupRun& run) const {
    if (!is_last(run) && choice_.offload) return true;
    return streamed_.returns_answers &&
           (is_last(run) || streamed_.groups[run.group].bytes.answer > 0);
  }
  /// Returns the bytes that each slot saves. A slot saves the tensors for the next group, an answer, or a part of an
  /// answer.
  std::int64_t saved_bytes(const GroupRun& run) const {
    const StageBytes& bytes = streamed_.groups[run.group].bytes;
    return is_last(run) || choice_.offload ? bytes.output : bytes.answer;
  }

 private:
  struct RunMemory {
    std::int64_t bytes = 0;
    /// The bytes of one input and of one output. Each is 0 if such tensors of other slots are not on the device.
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
  std::vector<RunMemory> memories_;
  /// For each run, the last run before it that saves its results. That run may be in the previous step.
  std::vector<std::size_t> saver_before_;
  /// The number of groups that save their results, or a part of their results.
  std::int64_t saving_groups_ = 0;
  std::int64_t least_ = 0, most_ = 0;
};

}  // namespace sluice
