// A tape is the list of operations that one micro-batch (or several side by side) executes on a device in one
// training step, one after the other. Strategies turn fates into a tape, and a policy turns the tape into actions of
// its plan.
//
// The order of the tape decides how long each tensor is on the device. A tensor comes to the device by a forward pass,
// a backward pass (gradients) or a load. The tensor leaves after its last use. If it comes several times, it leaves
// after its last use before it comes again. The operations are:
//   forward s   reads boundary s; makes boundary s + 1 and, if it keeps, the inner tensors of s
//   backward s  reads the gradient of boundary s + 1 (not the last stage, which makes its own),
//               the inner tensors of s, boundary s if reads_input, boundary s + 1 if reads_output;
//               makes the gradient of boundary s (not for s = 0)
// Where the chain branches, the boundaries that stage s reads (Chain::each_read) take the place of boundary s. If
// several stages read a boundary, the first of their backward passes makes its gradient, and the others add to this
// gradient.
//   save, load  of a boundary or of the inner tensors of a stage; a save reads the tensor and makes a
//               copy in host memory, which stays until the last load
// A forward pass of a stage that has already run is a recomputation.
#pragma once

#include <cstdint>
#include <vector>

#include "fates/chain.hpp"

namespace sluice {

struct TapeOp {
  enum class Kind : std::uint8_t { forward, backward, save, load };
  Kind kind = Kind::forward;
  std::uint32_t number = 0;  ///< the stage; for a save or load of a boundary: the boundary
  /// Forward: it keeps the inner tensors; save, load: it moves the inner tensors.
  bool inner = false;
  bool operator==(const TapeOp&) const = default;
};

using Tape = std::vector<TapeOp>;

/// Bytes on the device while each operation runs alone. At the start the device is empty. So boundary 0 must be loaded,
/// unless it has 0 bytes. When several micro-batches run side by side, the bytes of a forward or backward pass are the
/// greatest number at any moment of the pass. The pass computes one micro-batch after the other: the tensors that it
/// makes, and those that are loaded for it, come for one micro-batch at a time. Tensors that are read for the last time
/// leave in the same way.
struct TapeMemory {
  std::vector<std::int64_t> bytes;  ///< indexed by operation
  std::int64_t peak = 0;            ///< the maximum over all passes
};

/// Throws InternalError where an operation reads a tensor that is not on the device.
TapeMemory memory_of(const Chain& chain, const Tape& tape);

/// host_peak_of() returns the most bytes that copies occupy in host memory at any time, and fits_in_host() whether
/// these bytes are available. A copy occupies its bytes from its save to its last load.
std::int64_t host_peak_of(const Chain& chain, const Tape& tape);
bool fits_in_host(const Chain& chain, const Tape& tape);

/// Walks along a tape, from run to run of the stages whose weights take turns (ChainTurn says what a run is).
class RunsOfStages {
 public:
  /// The last run of a micro-batch continues in the first run of the next one, so the walk begins inside a run.
  RunsOfStages(const Chain& chain, const Tape& tape);

  /// Returns whether this operation begins a run, for which weights are loaded. Call this function for each operation
  /// of the tape in turn.
  bool begins(const TapeOp& op);

 private:
  const Chain& chain_;
  std::size_t stage_;
};

/// Returns the sum of the seconds of all operations, including copies and the loads of weights that take turns.
double serial_seconds(const Chain& chain, const Tape& tape);

}  // namespace sluice
