#include "fates/memory_from_end.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

/// Goes through the tape from its end. In this direction, a tensor comes to the device at its last use, and leaves it
/// at the operation that makes or loads it. So the bytes on the device are known at each operation.
class MemoryFromEnd {
 public:
  MemoryFromEnd(const Chain& chain, const Tape& tape)
      : chain_(chain),
        tape_(tape),
        count_(chain.stages.size()),
        there_(3 * count_ + 2),
        copy_needed_(2 * count_ + 1),
        additions_(count_ + 1) {}

  std::optional<TapeMemory> memory() {
    for (const TapeOp& op : tape_) {
      if (!names_a_tensor(op)) return {};
      if (op.kind == TapeOp::Kind::backward)
        chain_.each_read(op.number, [&](std::size_t b, bool) { ++additions_[b]; });
    }
    TapeMemory memory{std::vector<std::int64_t>(tape_.size())};
    for (std::size_t at = tape_.size(); at-- > 0;) {
      const std::int64_t workspace = perform(tape_[at]);
      memory.bytes[at] = held_ + workspace;
      memory.peak = std::max(memory.peak, memory.bytes[at]);
      held_ -= std::exchange(leaves_, 0);
    }
    // The input is in host memory from the start. If it has no bytes, it is also on the device.
    copy_needed_[0] = false;
    if (chain_.input.bytes == 0) there_[0] = false;
    const auto none = [](const std::vector<char>& marks) {
      return std::none_of(marks.begin(), marks.end(), [](char mark) { return mark != 0; });
    };
    return none(there_) && none(copy_needed_) ? std::optional(std::move(memory)) : std::nullopt;
  }

 private:
  bool names_a_tensor(const TapeOp& op) const {
    const bool copies = op.kind == TapeOp::Kind::load || op.kind == TapeOp::Kind::save;
    return op.number < count_ + (copies && !op.inner ? 1 : 0);
  }

  std::size_t inner(std::size_t s) const { return count_ + 1 + s; }
  std::size_t gradient(std::size_t b) const { return 2 * count_ + 1 + b; }

  void use(std::size_t tensor, std::int64_t bytes) {
    if (std::exchange(there_[tensor], true) == 0) held_ += bytes;
  }
  void bring(std::size_t tensor, std::int64_t bytes) {
    use(tensor, bytes);
    there_[tensor] = false;
    leaves_ += bytes;
  }

  /// Goes back over an operation. Returns the bytes of its workspace.
  std::int64_t perform(const TapeOp& op) {
    const std::size_t s = op.number;
    if (op.kind == TapeOp::Kind::save || op.kind == TapeOp::Kind::load) {
      const std::size_t moved = op.inner ? inner(s) : s;
      const std::int64_t bytes = (op.inner ? chain_.stages[s].inner : chain_.boundary(s)).bytes;
      copy_needed_[moved] = op.kind == TapeOp::Kind::load;
      op.kind == TapeOp::Kind::load ? bring(moved, bytes) : use(moved, bytes);
      return 0;
    }
    const ChainStage& stage = chain_.stages[s];
    if (op.kind == TapeOp::Kind::forward) {
      chain_.each_read(s, [&](std::size_t b, bool) { use(b, chain_.boundary(b).bytes); });
      bring(s + 1, stage.output.bytes);
      if (op.inner) bring(inner(s), stage.inner.bytes);
      return stage.forward_workspace(op.inner);
    }
    if (s + 1 < count_) use(gradient(s + 1), stage.gradient);
    if (stage.inner.bytes > 0) use(inner(s), stage.inner.bytes);
    if (stage.reads_output) use(s + 1, stage.output.bytes);
    chain_.each_read(s, [&](std::size_t b, bool backward) {
      if (backward) use(b, chain_.boundary(b).bytes);
      if (b == 0) return;
      const std::int64_t bytes = chain_.stages[b - 1].gradient;
      --additions_[b] == 0 ? bring(gradient(b), bytes) : use(gradient(b), bytes);
    });
    return stage.backward_workspace;
  }

  const Chain& chain_;
  const Tape& tape_;
  std::size_t count_;
  /// Whether the device holds a tensor. The tensors are numbered in this order: boundaries, inner
  /// tensors, gradients of the boundaries.
  std::vector<char> there_;
  std::vector<char> copy_needed_;  ///< for each tensor, whether a later load needs a save of it
  /// For each boundary, how many backward passes before the present operation add to its gradient. The first makes it.
  std::vector<std::uint32_t> additions_;
  std::int64_t held_ = 0;  ///< the bytes on the device at the present operation
  /// The part of `held_` that the present operation makes or loads. Before the operation, the device does not hold it.
  std::int64_t leaves_ = 0;
};

}  // namespace

std::optional<TapeMemory> memory_from_end(const Chain& chain, const Tape& tape) {
  return MemoryFromEnd(chain, tape).memory();
}

}  // namespace sluice
