// A tape is the list of operations that a device executes in order in one training step. The operations are for one
// micro-batch, or for several micro-batches that run side by side. Strategies turn fates into a tape, and a policy
// turns the tape into actions of its plan.
//
// The order of the operations decides how long each tensor is on the device. A tensor comes to the device when a pass
// makes it or a load brings it. A backward pass makes gradients. A tensor leaves the device after its last use. A
// tensor may come several times. Each time, it stays until its last use before it comes again. The operations are:
//   forward s   This pass reads boundary s and makes boundary s + 1. A pass that keeps the inner tensors of s makes
//               these tensors, too.
//   backward s  This pass reads the inner tensors of s and the gradient of boundary s + 1. The last stage makes this
//               gradient itself. If `reads_input` of the stage is true, the pass reads boundary s. If `reads_output` is
//               true, it reads boundary s + 1. If s > 0, it makes the gradient of boundary s.
//   save        This operation reads a boundary or the inner tensors of a stage, and makes a copy in host memory. The
//               copy stays until the last load.
//   load        This operation brings such a copy back to the device.
// If the chain branches, stage s reads the boundaries of Chain::each_read instead of boundary s. In such a chain,
// several stages may read the same boundary. The first of their backward passes makes the gradient of the boundary, and
// the other backward passes add to this gradient. A forward pass of a stage that has already run is a recomputation.
#pragma once

#include <cstdint>
#include <vector>

#include "fates/chain.hpp"

namespace sluice {

struct TapeOp {
  enum class Kind : std::uint8_t { forward, backward, save, load };
  Kind kind = Kind::forward;
  std::uint32_t number = 0;  ///< the stage, or the boundary that is saved or loaded
  /// For a forward pass: whether it keeps the inner tensors. For a save or load: whether it moves the inner tensors.
  bool inner = false;
  bool operator==(const TapeOp&) const = default;
};

using Tape = std::vector<TapeOp>;

/// For each operation, the bytes on the device if no other operation runs at the same time. At the start, the device
/// holds no bytes. So boundary 0 must be loaded, unless it has 0 bytes. If several micro-batches run side by side, a
/// pass computes one micro-batch after the other, and `bytes` has the most bytes at any moment of the pass. The
/// tensors that the pass makes, or that are loaded for it, come micro-batch by micro-batch. The tensors that it
/// reads for the last time leave micro-batch by micro-batch, too.
///
/// Weights that take turns are on the device during the whole run of their stage (ChainTurn), including passes of
/// stages whose weights stay. The update, and passes of other micro-batches, may need more bytes.
///
/// If several devices take turns, each device that uses a tensor holds one of its own. A pass or a load brings it to
/// its device only. The first transfer to another device needs no operation. `bytes` has n times the bytes of the
/// fullest of the n devices, with Chain::occupied. So an operation fits if each device has an equal share of the
/// budget.
struct TapeMemory {
  std::vector<std::int64_t> bytes;  ///< indexed by operation
  std::int64_t peak = 0;  ///< the greatest of `bytes`; copies count only if side_by_side is 1
};

/// Returns how many bytes are on the device during each operation of a tape. Throws InternalError if an operation reads
/// a tensor that the device does not hold.
TapeMemory memory_of(const Chain& chain, const Tape& tape);

/// host_peak_of() returns the most bytes that the tensors saved by a tape occupy in host memory at any time. A
/// saved tensor occupies its bytes from its save to its last load. fits_in_host() returns whether this number of
/// bytes is available.
std::int64_t host_peak_of(const Chain& chain, const Tape& tape);
bool fits_in_host(const Chain& chain, const Tape& tape);

/// Finds the runs of stages in a tape, if the weights of stages take turns. ChainTurn says what a run is.
class RunsOfStages {
 public:
  /// The beginning of the tape is inside a run, because the last run of a micro-batch continues in the next
  /// micro-batch.
  RunsOfStages(const Chain& chain, const Tape& tape);

  /// Returns whether this operation begins a run, for which weights are loaded. Call this function for all operations
  /// of the tape in order.
  bool begins(const TapeOp& op);

 private:
  const Chain& chain_;
  std::size_t stage_;
};

/// Returns the seconds of all operations together, including copies and the loads of weights that take turns.
double serial_seconds(const Chain& chain, const Tape& tape);

}  // namespace sluice
