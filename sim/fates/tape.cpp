#include "fates/tape.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace sluice {
namespace {

/// The lifetimes of a tape's tensors. A lifetime lasts from the operation that makes or loads the
/// tensor to the tensor's last use. The tensors are numbered in this order: boundaries 0 to n,
/// inner tensors, gradients of the boundaries.
class Lifetimes {
 public:
  Lifetimes(const Chain& chain, std::size_t operations)
      : chain_(chain),
        count_(chain.stages.size()),
        spans_(3 * count_ + 2),
        saved_(2 * count_ + 1),
        change_(operations + 1) {
    saved_[0] = true;  // the input is in host memory from the start
    if (chain.input.bytes == 0) bring(0, 0, 0);
  }

  std::size_t boundary(std::size_t b) const { return b; }
  std::size_t inner(std::size_t s) const { return count_ + 1 + s; }
  std::size_t gradient(std::size_t b) const { return 2 * count_ + 1 + b; }

  std::int64_t bytes(std::size_t tensor) const {
    if (tensor <= count_) return chain_.boundary(tensor).bytes;
    if (tensor <= 2 * count_) return chain_.stages[tensor - count_ - 1].inner.bytes;
    return chain_.stages[tensor - 2 * count_ - 2].gradient;  // boundary 0 has no gradient
  }

  void bring(std::size_t tensor, std::size_t at) { bring(tensor, at, bytes(tensor)); }

  /// If the tensor is not on the device yet, makes it. Otherwise adds to it.
  void add_to(std::size_t tensor, std::size_t at) {
    spans_[tensor].there ? use(tensor, at) : bring(tensor, at);
  }

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

  /// A tensor that is on the device from operation `first` to operation `last`.
  struct Lifetime {
    std::size_t first, last;
    std::int64_t bytes;
  };
  const std::vector<Lifetime>& lifetimes() const { return lifetimes_; }

  /// Returns for each operation the bytes of the tensors that live during the operation.
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
    if (chain_.side_by_side > 1) lifetimes_.push_back({span.first, span.last, span.bytes});
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
  std::vector<Lifetime> lifetimes_;
};

/// Returns for each operation of the tape the pass to which it belongs. A load belongs to the next pass after it, and a
/// save belongs to the last pass before it.
std::vector<std::size_t> passes_of(const Tape& tape) {
  std::vector<std::size_t> passes(tape.size());
  std::size_t pass = 0;
  for (std::size_t at = 0; at < tape.size(); ++at) {
    if (tape[at].kind != TapeOp::Kind::load && tape[at].kind != TapeOp::Kind::save) pass = at;
    passes[at] = pass;
  }
  for (std::size_t at = tape.size(); at-- > 0;) {
    if (tape[at].kind == TapeOp::Kind::load) passes[at] = pass;
    if (tape[at].kind != TapeOp::Kind::save) pass = passes[at];
  }
  return passes;
}

/// Corrects the bytes of each pass, in which several micro-batches are computed one after the other. A pass makes new
/// tensors, and reads old tensors for the last time. When one micro-batch has been computed, its new tensors take the
/// room of its old tensors. So the device never holds the old and the new tensors of all micro-batches at the same
/// time.
void take_one_after_the_other(const Chain& chain, const Tape& tape,
                              const std::vector<Lifetimes::Lifetime>& lifetimes,
                              std::vector<std::int64_t>& bytes) {
  const std::vector<std::size_t> passes = passes_of(tape);
  std::vector<std::int64_t> comes(tape.size(), 0), goes(tape.size(), 0), both(tape.size(), 0);
  for (const Lifetimes::Lifetime& tensor : lifetimes) {
    const std::size_t first = passes[tensor.first], last = passes[tensor.last];
    if (first == last) {
      both[first] += tensor.bytes;
      continue;
    }
    comes[first] += tensor.bytes;
    goes[last] += tensor.bytes;
  }
  for (std::size_t at = 0; at < tape.size(); ++at) {
    const std::int64_t fewer = std::min(comes[at], goes[at]) + both[at];
    bytes[at] -= fewer - fewer / chain.side_by_side;
  }
}

/// Records which tensors the operation reads and makes. Returns the bytes of its workspace.
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
      chain.each_read(s, [&](std::size_t b, bool) { live.use(live.boundary(b), at); });
      live.bring(live.boundary(s + 1), at);
      if (op.inner) live.bring(live.inner(s), at);
      return chain.stages[s].forward_workspace(op.inner);
    case TapeOp::Kind::backward:
      break;
  }
  const ChainStage& stage = chain.stages[s];
  if (s + 1 < chain.stages.size()) live.use(live.gradient(s + 1), at);
  if (stage.inner.bytes > 0) live.use(live.inner(s), at);
  if (stage.reads_output) live.use(live.boundary(s + 1), at);
  chain.each_read(s, [&](std::size_t b, bool backward) {
    if (backward) live.use(live.boundary(b), at);
    if (b > 0) live.add_to(live.gradient(b), at);
  });
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
  if (chain.side_by_side > 1) take_one_after_the_other(chain, tape, live.lifetimes(), memory.bytes);
  for (std::size_t at = 0; at < tape.size(); ++at) {
    memory.bytes[at] += workspace[at];
    const bool copies = tape[at].kind == TapeOp::Kind::load || tape[at].kind == TapeOp::Kind::save;
    if (!copies || chain.side_by_side == 1) memory.peak = std::max(memory.peak, memory.bytes[at]);
  }
  return memory;
}

std::int64_t host_peak_of(const Chain& chain, const Tape& tape) {
  const std::size_t n = chain.stages.size();
  const auto tensor = [n](const TapeOp& op) { return op.inner ? n + 1 + op.number : op.number; };
  std::vector<std::size_t> last_load(2 * n + 1, 0);
  for (std::size_t at = 0; at < tape.size(); ++at)
    if (tape[at].kind == TapeOp::Kind::load) last_load[tensor(tape[at])] = at;
  std::int64_t held = 0, peak = 0;
  std::vector<char> copied(2 * n + 1, 0);
  for (std::size_t at = 0; at < tape.size(); ++at) {
    const TapeOp& op = tape[at];
    const bool saves = op.kind == TapeOp::Kind::save;
    if (!saves && op.kind != TapeOp::Kind::load) continue;
    const std::size_t moved = tensor(op);
    const std::int64_t bytes =
        (op.inner ? chain.stages[op.number].inner : chain.boundary(op.number)).bytes;
    if (saves && !std::exchange(copied[moved], 1)) held += bytes;
    peak = std::max(peak, held);
    if (!saves && copied[moved] && last_load[moved] == at) held -= bytes;
  }
  return peak;
}

bool fits_in_host(const Chain& chain, const Tape& tape) {
  return !chain.host_room || host_peak_of(chain, tape) <= *chain.host_room;
}

RunsOfStages::RunsOfStages(const Chain& chain, const Tape& tape)
    : chain_(chain), stage_(chain.stages.size()) {
  for (const TapeOp& op : tape) begins(op);
}

bool RunsOfStages::begins(const TapeOp& op) {
  const bool copies = op.kind == TapeOp::Kind::save || op.kind == TapeOp::Kind::load;
  if (copies || chain_.stages[op.number].turn.bytes == 0) return false;
  return std::exchange(stage_, op.number) != op.number;
}

double serial_seconds(const Chain& chain, const Tape& tape) {
  double seconds = 0;
  for (const ChainStage& stage : chain.stages)
    seconds += stage.hand_over.save_s + stage.hand_over.load_s + stage.hand_over.gradient_save_s +
               stage.hand_over.gradient_load_s;
  RunsOfStages runs(chain, tape);
  for (const TapeOp& op : tape) {
    const bool is_inner = op.inner;
    if (runs.begins(op)) seconds += chain.stages[op.number].turn.load_s;
    switch (op.kind) {
      case TapeOp::Kind::forward:
        seconds += chain.stages[op.number].forward_s;
        break;
      case TapeOp::Kind::backward:
        seconds += chain.stages[op.number].backward_s;
        seconds += chain.stages[op.number].turn.backward_load_s;
        seconds += chain.stages[op.number].turn.backward_save_s;
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
