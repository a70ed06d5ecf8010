// A chain describes the stages of a model for the choice between keeping, recomputing and offloading. It holds the
// seconds and bytes of one micro-batch on one device. If several micro-batches run side by side, each operation
// computes all of them, one after the other. In this case, the seconds and bytes are sums over these micro-batches. A
// chain is plain data.
//
// Boundary b is the tensor between stage b - 1 and stage b. Boundary 0 is the input, and boundary s + 1 is the output
// of stage s. Usually stage b reads boundary b only. If the network branches, stage b may also read earlier
// boundaries, or not read boundary b. In this case, ChainStage::reads lists the boundaries that the stage reads. Each
// boundary is one tensor. The device holds this tensor once, even if several stages read it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// A tensor that may be copied to host memory, with the seconds of a copy in each direction. If copies run during
/// computation, these seconds do not include the latency of the link. If copies and computation take turns, the seconds
/// include the latency, because the next operation waits for the data.
struct ChainTensor {
  std::int64_t bytes = 0;
  double save_s = 0, load_s = 0;
};

/// The transfers of a stage if the weights of the stages take turns on the device. A run of a stage is a sequence of
/// its operations. It ends when the first operation of another stage with weights begins. The weights are loaded before
/// each run and leave the device after it.
struct ChainTurn {
  std::int64_t bytes = 0;  ///< the bytes of the weights; the stage's workspaces include these bytes
  double load_s = 0;       ///< the seconds to load the weights
  /// The seconds of the other copies: copies of the summed gradients, and copies of the tensors that the update uses.
  /// The numbers are means per backward pass.
  double backward_load_s = 0, backward_save_s = 0;
};

/// The results that a stage hands over to other devices if several devices take turns: its output, and in the backward
/// pass the gradient of its input. A result goes to host memory, and from there to the device that reads it.
struct ChainHandOver {
  /// The seconds for which the copies of the output occupy the copy engines. Every schedule makes these copies.
  double save_s = 0, load_s = 0;
  /// The same for the gradient of the stage's output. The stages that read the output make this gradient, and the
  /// device of this stage loads it.
  double gradient_save_s = 0, gradient_load_s = 0;
  /// The least seconds for which the passes of this stage wait for the neighbouring stage's result. In this time, its
  /// forward pass finds nothing to compute. Before its backward pass, only passes that run again can be computed.
  double forward_wait_s = 0, backward_wait_s = 0;
};

/// A boundary that the forward pass of a stage reads. `backward` says whether the stage's backward pass reads it, too.
struct ChainRead {
  std::uint32_t boundary = 0;
  bool backward = false;
  bool operator==(const ChainRead&) const = default;
};

/// The part of a stage's output that consists of tensors of earlier stages. Such a part exists only in a chain that
/// joint.hpp has made from a branching chain.
struct ChainCarried {
  ChainTensor tensor = {};
  std::int64_t gradient = 0;  ///< the bytes of the gradient of this part
  std::size_t before =
      0;  ///< 1 + the greatest index of a boundary in this part; 0 if there is no such part
};

struct ChainStage {
  std::string name;
  double forward_s = 0, backward_s = 0;
  ChainTensor output;  ///< boundary s + 1
  /// The inner tensors, which the forward pass may keep for the backward pass.
  ChainTensor inner;
  bool reads_input = true;  ///< whether the backward pass reads boundary s
  /// Whether the backward pass reads boundary s + 1. The last stage has the value true.
  bool reads_output = false;
  /// The bytes of the gradient of the output. The number is 0 for the last stage. It is also 0 if neither this stage
  /// nor an earlier stage is trained.
  std::int64_t gradient = 0;
  /// The bytes of workspace while one micro-batch goes through the stage: in a forward pass that keeps nothing, in a
  /// forward pass that keeps the inner tensors, and in the backward pass.
  std::int64_t pass_workspace = 0, keep_workspace = 0, backward_workspace = 0;

  ChainTurn turn = {};
  ChainHandOver hand_over = {};
  ChainCarried carried = {};

  /// The boundaries that the stage reads, in ascending order. If the chain does not branch, stage s reads boundary s,
  /// and this list is empty. `reads_input` says whether the backward pass reads any of the boundaries.
  std::vector<ChainRead> reads = {};

  /// Returns the workspace of a forward pass that keeps the inner tensors, or of one that does not. If the stage has no
  /// inner tensors, there is nothing to keep. Then both functions return the smaller of the two numbers
  /// `pass_workspace` and `keep_workspace`.
  std::int64_t keeping_workspace() const {
    return inner.bytes == 0 ? std::min(pass_workspace, keep_workspace) : keep_workspace;
  }
  std::int64_t passing_workspace() const {
    return inner.bytes == 0 ? std::min(pass_workspace, keep_workspace) : pass_workspace;
  }
  std::int64_t forward_workspace(bool keeps) const {
    return keeps ? keeping_workspace() : passing_workspace();
  }
};

struct Chain {
  ChainTensor input;  ///< boundary 0, which is always in host memory and never saved
  std::vector<ChainStage> stages;
  /// The seconds from the end of a load to the arrival of its data. If copies do not run during
  /// computation, the number is 0.
  double load_latency_s = 0;
  /// The number of micro-batches over which the seconds and bytes are summed.
  std::int64_t side_by_side = 1;
  /// The number n of devices that take turns. Device s mod n computes stage s. If several devices have memories of
  /// different sizes, the number is 1, and all memories together count as one.
  std::size_t devices = 1;
  /// The bytes of host memory that the copies may occupy together. If there is no value, they are
  /// unlimited.
  std::optional<std::int64_t> host_room = {};

  /// Indexed by device: the bytes of tensors that stay there during the whole run, without the bytes that every device
  /// has. Those leave the budget of all devices. If the list is empty, all devices have equally much room.
  std::vector<std::int64_t> occupied = {};

  std::size_t device(std::size_t stage) const { return stage % devices; }
  std::int64_t occupied_on(std::size_t device) const {
    return occupied.empty() ? 0 : occupied[device];
  }

  const ChainTensor& boundary(std::size_t b) const { return b == 0 ? input : stages[b - 1].output; }

  bool branches() const { return !stages.empty() && !stages.back().reads.empty(); }

  /// Calls use(boundary, backward) for each boundary that stage s reads. `backward` says whether the stage's backward
  /// pass reads this boundary.
  template <typename Use>
  void each_read(std::size_t s, const Use& use) const {
    if (stages[s].reads.empty()) return use(s, stages[s].reads_input);
    for (const ChainRead& read : stages[s].reads) use(std::size_t{read.boundary}, read.backward);
  }
};

}  // namespace sluice
