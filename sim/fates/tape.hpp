// A tape is the list of operations that one micro-batch (or several side by side) executes on a device in one
// training step, one after the other. Strategies turn fates into a tape, and a policy turns the tape into actions of
// its plan.
//
// Tensors live as the tape's order says. A tensor comes to the device by a forward pass, a backward pass (gradients) or
// a load. It leaves after its last use before it comes again, or before the end. The operations are:
//   forward s   reads boundary s; makes boundary s + 1 and, if it keeps, the inner tensors of s
//   backward s  reads the gradient of boundary s + 1 (not the last stage, which makes its own),
//               the inner tensors of s, boundary s if reads_input, boundary s + 1 if reads_output;
//               makes the gradient of boundary s (not for s = 0)
// Where the chain branches, the boundaries that stage s reads (Chain::each_read) take the place of
// boundary s. The first backward pass of their readers makes the gradient of a boundary; the
// backward passes of the other readers add to it.
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
  bool inner = false;        ///< forward: keeps the inner tensors; save, load: moves them
  bool operator==(const TapeOp&) const = default;
};

using Tape = std::vector<TapeOp>;

/// Bytes on the device while each operation runs alone. At the start the device is empty: boundary 0 is
/// loaded, unless it has 0 bytes. When several micro-batches run side by side, the bytes of a forward or
/// backward pass are the most at any moment of the pass. What the pass makes, and what is loaded for it,
/// comes with one micro-batch after the other. Tensors that the pass is the last to read leave in the same
/// way.
struct TapeMemory {
  std::vector<std::int64_t> bytes;  ///< indexed by operation
  std::int64_t peak = 0;            ///< the maximum over all passes
};

/// Throws InternalError where an operation reads a tensor that is not on the device.
TapeMemory memory_of(const Chain& chain, const Tape& tape);

/// The most bytes that copies occupy in host memory at any time, and whether they fit there. Each copy occupies its
/// bytes from its save to its last load.
std::int64_t host_peak_of(const Chain& chain, const Tape& tape);
bool fits_in_host(const Chain& chain, const Tape& tape);

/// Walks along a tape, from run to run of the stages whose weights take turns (ChainTurn says what a run is).
class RunsOfStages {
 public:
  /// The last run of a micro-batch continues in the first run of the next one, so the walk begins inside a run.
  RunsOfStages(const Chain& chain, const Tape& tape);

  /// Whether this operation begins a run, for which the weights are loaded. It must be the next one of the
  /// tape.
  bool begins(const TapeOp& op);

 private:
  const Chain& chain_;
  std::size_t stage_;
};

/// The sum of the seconds of all operations, including copies and loads of weights that take
/// turns.
double serial_seconds(const Chain& chain, const Tape& tape);

}  // namespace sluice
