// A chain of stages, as the choice between keeping, recomputing and offloading sees it: seconds and
// bytes of one micro-batch on one device. Where several micro-batches go side by side, they are
// those of all of them: each operation is then done for one micro-batch after the other before the
// next operation begins. Data only.
//
// Boundary b is what stage b reads: boundary 0 is the input, and boundary s + 1 is the output of
// stage s.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// A tensor that may go to host memory, with the seconds that a copy takes each way. The latency of
/// a link occupies nothing where copies run beside computation; where both take turns, the next
/// operation waits for what arrives, so there it counts.
struct ChainTensor {
  std::int64_t bytes = 0;
  double save_s = 0, load_s = 0;
};

/// Where the weights of stages take turns: what comes to the device for each run of operations of a
/// stage, and leaves after it. A run ends with the first operation of another stage that has
/// weights.
struct ChainTurn {
  std::int64_t bytes = 0;  ///< of the weights; the workspaces of the stage include them
  double load_s = 0;       ///< of the weights
  /// Bytes beside each backward pass: the sums of gradients and what the update uses, on average.
  double backward_load_s = 0, backward_save_s = 0;
};

struct ChainStage {
  std::string name;
  double forward_s = 0, backward_s = 0;
  ChainTensor output;       ///< boundary s + 1
  ChainTensor inner;        ///< what the forward pass keeps for the backward pass beside boundaries
  bool reads_input = true;  ///< the backward pass reads boundary s
  bool reads_output = false;  ///< … and boundary s + 1 (always so for the last stage: the loss)
  std::int64_t gradient = 0;  ///< bytes of the gradient of the output (0 for the last stage,
                              ///< and where nothing up to it learns)
  /// Further bytes while a pass runs, for one micro-batch: a forward pass that keeps nothing, a
  /// forward pass that keeps, and a backward pass.
  std::int64_t pass_workspace = 0, keep_workspace = 0, backward_workspace = 0;

  ChainTurn turn = {};

  /// Of a forward pass that keeps the inner tensors, or does not. Where there are none to keep, the
  /// two are the same, and it takes the lesser value.
  std::int64_t forward_workspace(bool keeps) const {
    if (inner.bytes == 0) return std::min(pass_workspace, keep_workspace);
    return keeps ? keep_workspace : pass_workspace;
  }
};

struct Chain {
  ChainTensor input;  ///< boundary 0; host memory has it all the time, so it is never saved
  std::vector<ChainStage> stages;
  double load_latency_s = 0;      ///< beside computation, a load arrives this much after it ends
  std::int64_t side_by_side = 1;  ///< the number of micro-batches to which these seconds and bytes
                                  ///< belong
  /// Bytes of host memory that copies may take; none: without limit.
  std::optional<std::int64_t> host_room = {};

  const ChainTensor& boundary(std::size_t b) const { return b == 0 ? input : stages[b - 1].output; }
};

}  // namespace sluice
