#include "fates/memory_from_end.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

/// Goes through the tape from its end. In this direction, a tensor comes to the device at its last use, and leaves it
/// at the operation that makes or loads it. So the bytes on the device are known at each operation.
class MemoryFromEnd {
 public:
  MemoryFromEnd(const Chain& chain, const Tape& tape, const std::vector<std::size_t>& passes)
      : chain_(chain),
        tape_(tape),
        passes_(passes),
        count_(chain.stages.size()),
        there_(3 * count_ + 2),
        copy_needed_(2 * count_ + 1),
        additions_(count_ + 1),
        last_(passes.empty() ? 0 : there_.size()),
        changes_(passes.size()) {}

  std::optional<std::vector<std::int64_t>> bytes() {
    for (const TapeOp& op : tape_) {
      if (!names_a_tensor(op)) return {};
      if (op.kind == TapeOp::Kind::backward)
        chain_.each_read(op.number, [&](std::size_t b, bool) { ++additions_[b]; });
    }
    std::vector<std::int64_t> bytes(tape_.size());
    for (at_ = tape_.size(); at_-- > 0;) {
      const std::int64_t workspace = perform(tape_[at_]);
      bytes[at_] = held_ + workspace;
      held_ -= std::exchange(leaves_, 0);
    }
    if (!passes_.empty()) take_one_after_the_other(bytes);
    // The input is in host memory from the start. If it has no bytes, it is also on the device.
    copy_needed_[0] = false;
    if (chain_.input.bytes == 0) there_[0] = false;
    const auto none = [](const std::vector<char>& marks) {
      return std::none_of(marks.begin(), marks.end(), [](char mark) { return mark != 0; });
    };
    return none(there_) && none(copy_needed_) ? std::optional(std::move(bytes)) : std::nullopt;
  }

 private:
  bool names_a_tensor(const TapeOp& op) const {
    const bool copies = op.kind == TapeOp::Kind::load || op.kind == TapeOp::Kind::save;
    return op.number < count_ + (copies && !op.inner ? 1 : 0);
  }

  std::size_t inner(std::size_t s) const { return count_ + 1 + s; }
  std::size_t gradient(std::size_t b) const { return 2 * count_ + 1 + b; }

  void use(std::size_t tensor, std::int64_t bytes) {
    if (std::exchange(there_[tensor], true) != 0) return;
    held_ += bytes;
    if (!passes_.empty()) last_[tensor] = passes_[at_];
  }
  void bring(std::size_t tensor, std::int64_t bytes) {
    use(tensor, bytes);
    there_[tensor] = false;
    leaves_ += bytes;
    if (passes_.empty()) return;
    const std::size_t first = passes_[at_], last = last_[tensor];
    if (first == last) {
      changes_[first].both += bytes;
      return;
    }
    changes_[first].comes += bytes;
    changes_[last].goes += bytes;
  }

  /// Corrects the bytes of passes that compute several micro-batches one after the other, as the general case in
  /// tape.cpp does.
  void take_one_after_the_other(std::vector<std::int64_t>& bytes) const {
    for (std::size_t at = 0; at < tape_.size(); ++at) {
      const std::int64_t fewer =
          std::min(changes_[at].comes, changes_[at].goes) + changes_[at].both;
      bytes[at] -= fewer - fewer / chain_.side_by_side;
    }
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
  const std::vector<std::size_t>& passes_;
  std::size_t count_;
  std::size_t at_ = 0;  ///< the present operation
  /// Whether the device holds a tensor. The tensors are numbered in this order: boundaries, inner
  /// tensors, gradients of the boundaries.
  std::vector<char> there_;
  std::vector<char> copy_needed_;  ///< for each tensor, whether a later load needs a save of it
  /// For each boundary, how many backward passes before the present operation add to its gradient. The first makes it.
  std::vector<std::uint32_t> additions_;
  /// Only with `passes_`: the pass of the last operation that uses a tensor, and for each pass, the bytes of tensors
  /// that come in it, that go in it, and that come and go in it.
  std::vector<std::size_t> last_;
  struct Changes {
    std::int64_t comes = 0, goes = 0, both = 0;
  };
  std::vector<Changes> changes_;
  std::int64_t held_ = 0;  ///< the bytes on the device at the present operation
  /// The part of `held_` that the present operation makes or loads. Before the operation, the device does not hold it.
  std::int64_t leaves_ = 0;
};

}  // namespace

std::optional<std::vector<std::int64_t>> bytes_from_end(const Chain& chain, const Tape& tape,
                                                        const std::vector<std::size_t>& passes) {
  return MemoryFromEnd(chain, tape, passes).bytes();
}

}  // namespace sluice
