#include "fates/tape.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace sluice {
namespace {

/// Lifetimes of the tensors of a tape: each from the operation that brings it to its last use.
/// Tensors are numbered: boundaries 0 … n, inner tensors, gradients of the boundaries.
class Lifetimes {
 public:
  Lifetimes(const Chain& chain, std::size_t operations)
      : chain_(chain),
        count_(chain.stages.size()),
        spans_(3 * count_ + 2),
        saved_(2 * count_ + 1),
        change_(operations + 1) {
    saved_[0] = true;  // the input has its copy from the start
    if (chain.input.bytes == 0) bring(0, 0, 0);
  }

  std::size_t boundary(std::size_t b) const { return b; }
  std::size_t inner(std::size_t s) const { return count_ + 1 + s; }
  std::size_t gradient(std::size_t b) const { return 2 * count_ + 1 + b; }

  std::int64_t bytes(std::size_t tensor) const {
    if (tensor <= count_) return chain_.boundary(tensor).bytes;
    if (tensor <= 2 * count_) return chain_.stages[tensor - count_ - 1].inner.bytes;
    return chain_.stages[tensor - 2 * count_ - 2].gradient;  // that of boundary 0 is never made
  }

  void bring(std::size_t tensor, std::size_t at) { bring(tensor, at, bytes(tensor)); }

  void use(std::size_t tensor, std::size_t at) {
    if (!spans_[tensor].there)
      throw InternalError("operation " + std::to_string(at) + " of a tape reads " + name(tensor) +
                          ", which is not on the device");
    spans_[tensor].last = at;
  }

  void save(std::size_t tensor, std::size_t at) {
    use(tensor, at);
    saved_[tensor] = true;
  }

  void load(std::size_t tensor, std::size_t at) {
    if (!saved_[tensor])
      throw InternalError("operation " + std::to_string(at) + " of a tape loads " + name(tensor) +
                          ", which host memory does not hold");
    bring(tensor, at);
  }

  /// Bytes that live during each operation.
  std::vector<std::int64_t> totals() {
    for (std::size_t tensor = 0; tensor < spans_.size(); ++tensor) close(tensor);
    std::vector<std::int64_t> total(change_.begin(), change_.end() - 1);
    for (std::size_t i = 1; i < total.size(); ++i) total[i] += total[i - 1];
    return total;
  }

 private:
  struct Span {
    bool there = false;
    std::size_t first = 0, last = 0;
    std::int64_t bytes = 0;
  };

  void bring(std::size_t tensor, std::size_t at, std::int64_t bytes) {
    close(tensor);
    spans_[tensor] = {true, at, at, bytes};
  }

  void close(std::size_t tensor) {
    const Span& span = spans_[tensor];
    if (!span.there || span.bytes == 0) return;
    change_[span.first] += span.bytes;
    change_[span.last + 1] -= span.bytes;
  }

  std::string name(std::size_t tensor) const {
    if (tensor <= count_) return "boundary " + std::to_string(tensor);
    if (tensor <= 2 * count_)
      return "the inner tensors of stage " + std::to_string(tensor - count_ - 1);
    return "the gradient of boundary " + std::to_string(tensor - 2 * count_ - 1);
  }

  const Chain& chain_;
  std::size_t count_;
  std::vector<Span> spans_;
  std::vector<bool> saved_;
  std::vector<std::int64_t> change_;
};

/// Reads and makes what the operation does; its workspace.
std::int64_t perform(const Chain& chain, Lifetimes& live, const TapeOp& op, std::size_t at) {
  const std::size_t s = op.number;
  const bool of_stage = op.kind == TapeOp::Kind::forward || op.kind == TapeOp::Kind::backward;
  if (s >= chain.stages.size() + (of_stage || op.inner ? 0 : 1))
    throw InternalError("operation " + std::to_string(at) + " of a tape names stage " +
                        std::to_string(s) + " of " + std::to_string(chain.stages.size()));
  const std::size_t moved = op.inner ? live.inner(s) : live.boundary(s);
  switch (op.kind) {
    case TapeOp::Kind::save:
      live.save(moved, at);
      return 0;
    case TapeOp::Kind::load:
      live.load(moved, at);
      return 0;
    case TapeOp::Kind::forward:
      live.use(live.boundary(s), at);
      live.bring(live.boundary(s + 1), at);
      if (op.inner) live.bring(live.inner(s), at);
      return chain.stages[s].forward_workspace(op.inner);
    case TapeOp::Kind::backward:
      break;
  }
  const ChainStage& stage = chain.stages[s];
  if (s + 1 < chain.stages.size()) live.use(live.gradient(s + 1), at);
  if (stage.inner.bytes > 0) live.use(live.inner(s), at);
  if (stage.reads_input) live.use(live.boundary(s), at);
  if (stage.reads_output) live.use(live.boundary(s + 1), at);
  if (s > 0) live.bring(live.gradient(s), at);
  return stage.backward_workspace;
}

}  // namespace

TapeMemory memory_of(const Chain& chain, const Tape& tape) {
  Lifetimes live(chain, tape.size());
  std::vector<std::int64_t> workspace;
  workspace.reserve(tape.size());
  for (std::size_t at = 0; at < tape.size(); ++at)
    workspace.push_back(perform(chain, live, tape[at], at));
  TapeMemory memory;
  memory.bytes = live.totals();
  for (std::size_t at = 0; at < tape.size(); ++at) {
    memory.bytes[at] += workspace[at];
    memory.peak = std::max(memory.peak, memory.bytes[at]);
  }
  return memory;
}

double serial_seconds(const Chain& chain, const Tape& tape) {
  double seconds = 0;
  for (const TapeOp& op : tape) {
    const bool is_inner = op.inner;
    switch (op.kind) {
      case TapeOp::Kind::forward:
        seconds += chain.stages[op.number].forward_s;
        break;
      case TapeOp::Kind::backward:
        seconds += chain.stages[op.number].backward_s;
        break;
      case TapeOp::Kind::save:
        seconds += (is_inner ? chain.stages[op.number].inner : chain.boundary(op.number)).save_s;
        break;
      case TapeOp::Kind::load:
        seconds += (is_inner ? chain.stages[op.number].inner : chain.boundary(op.number)).load_s;
        break;
    }
  }
  return seconds;
}

}  // namespace sluice
