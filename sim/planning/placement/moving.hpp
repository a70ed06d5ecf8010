// Tensors that move between the two memories in a run, and the memory in which each use finds its tensor. The search
// for a placement knows only one round of kernels. But a run repeats this round again and again. It also loads inputs
// and offloads activations.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "placement/schedule.hpp"
#include "planning/placement/placed_question.hpp"
#include "planning/program_draft.hpp"

namespace sluice {

/// The memories of a placed program: indices for Program::node().
enum PlacedNode : std::uint32_t { fast_node = 1, slow_node = 2, host_node = 3 };

/// The moves of a round as operations of the program.
class MovingTensors {
 public:
  /// The object ignores tensors without moves. `instances` has each tensor's first instance: in its home, or at its
  /// first use if it has no home. Moves add further instances, each for one stay in a memory. The vector is indexed by
  /// tensor of the problem. All arguments must outlive the object.
  MovingTensors(const PlacedQuestion& asked, const PlacementSchedule& schedule, ProgramDraft& draft,
                const std::vector<std::uint32_t>& instances);

  bool moves(std::uint32_t t) const { return stays_.count(t) != 0; }
  /// Adds the moves that begin before kernel k.
  void list_before(std::uint32_t k);
  /// Makes the operation of kernel k, which is added next, use the tensor t. The tensor t must have moves.
  void use(Program::Operation& operation, std::uint32_t k, std::uint32_t t, bool written);
  /// Makes the operation of kernel k, which is added next, wait for the moves that must end before kernel k.
  void computes(std::uint32_t k);
  /// Returns the instance of the tensor t that kernel k uses.
  std::uint32_t instance(std::uint32_t t, std::uint32_t k) const { return stay(t, k).instance; }
  /// Adds the moves after the last kernel. Makes the next round's first moves wait for the end of this round.
  void end_round();

 private:
  /// The time for which a tensor is in one memory.
  struct Stay {
    std::uint32_t instance = none;
    bool home = false;             ///< whether slow memory holds the tensor during the whole run
    bool begins = false;           ///< whether the first use of this stay makes the tensor
    std::uint32_t made_by = none;  ///< the move with which the stay began
  };
  struct Ends {
    Stay from, to;
  };

  void follow(std::uint32_t t);
  const Stay& stay(std::uint32_t t, std::uint32_t k) const;
  void list(std::uint32_t m);
  ActionKind kind_of(const PlacementMove& move) const;
  void touch(Program::Operation& operation, std::uint32_t t, const Stay& stay);

  const PlacedQuestion& asked_;
  const PlacementQuestion& question_;
  const PlacementSchedule& schedule_;
  ProgramDraft& draft_;
  const std::vector<std::uint32_t>& instances_;
  std::map<std::uint32_t, std::vector<Stay>> stays_;  ///< the stays, by tensor and use
  std::vector<Ends> ends_;                            ///< by move
  std::vector<std::int64_t> operations_;              ///< by move
  /// For each kernel: the moves for which the kernel waits.
  std::map<std::uint32_t, std::vector<std::int64_t>> arrive_;
  std::map<std::uint32_t, std::int64_t>
      saved_home_;  ///< for each tensor: its last save to its home
  /// For each tensor: the operations that read it in its home before the first save of the round. In the next round,
  /// each of these operations waits for the last save of this round.
  std::map<std::uint32_t, std::vector<std::int64_t>> before_save_;
  std::vector<std::int64_t> first_;  ///< the moves of the copy engine before the first kernel
  std::int64_t last_ = -1;           ///< the last operation of the compute units
  std::size_t next_ = 0;             ///< the index of the move that is listed next
};

}  // namespace sluice
