#include "fates/tape.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "fates/memory_from_end.hpp"

namespace sluice {
namespace {

/// The lifetimes of a tape's tensors. A lifetime lasts from the operation that makes the tensor on a device, or loads
/// it there, to the tensor's last use on this device. The tensors are numbered in this order: boundaries 0 to n, inner
/// tensors, gradients of the boundaries.
class Lifetimes {
 public:
  Lifetimes(const Chain& chain, std::size_t operations)
      : chain_(chain),
        count_(chain.stages.size()),
        operations_(operations),
        spans_(chain.devices * (3 * count_ + 2)),
        saved_(2 * count_ + 1),
        change_(chain.devices * (operations + 1)),
        lifetimes_(chain.devices) {
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

  /// Sets the device of the next operations.
  void go_to(std::size_t device) { device_ = device; }

  void bring(std::size_t tensor, std::size_t at) { bring(tensor, at, bytes(tensor)); }

  /// If the tensor is on no device yet, makes it. Otherwise adds to it.
  void add_to(std::size_t tensor, std::size_t at) {
    if (!is_anywhere(tensor)) return bring(tensor, at);
    use(tensor, at);
    for (std::size_t d = 0; d < chain_.devices; ++d)
      if (d != device_) close(tensor, d);
  }

  void use(std::size_t tensor, std::size_t at) {
    if (!is_anywhere(tensor))
      throw InternalError("operation " + std::to_string(at) + " of a tape reads " + name(tensor) +
                          ", which is not on the device");
    Span& here = span(tensor, device_);
    if (!here.is_there()) here = {index(at), index(at), bytes(tensor)};
    here.last = index(at);
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

  /// A tensor that is on a device from operation `first` to operation `last`.
  struct Lifetime {
    std::size_t first, last;
    std::int64_t bytes;
  };
  const std::vector<Lifetime>& lifetimes(std::size_t device) const { return lifetimes_[device]; }

  /// Ends all lifetimes. Call this function after the last operation.
  void end() {
    for (std::size_t tensor = 0; tensor < 3 * count_ + 2; ++tensor)
      for (std::size_t d = 0; d < chain_.devices; ++d) close(tensor, d);
  }

  /// Returns for each operation the bytes of the tensors that live on the device during the operation.
  std::vector<std::int64_t> totals(std::size_t device) const {
    std::vector<std::int64_t> total(operations_);
    const std::int64_t* change = change_.data() + device * (operations_ + 1);
    std::partial_sum(change, change + operations_, total.begin());
    return total;
  }

 private:
  /// A tape may have many operations, and this code runs for many tapes. So the spans are short.
  struct Span {
    std::uint32_t first = nowhere, last = 0;  ///< indices of operations
    std::int64_t bytes = 0;
    bool is_there() const { return first != nowhere; }
  };
  static constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
  static std::uint32_t index(std::size_t at) { return static_cast<std::uint32_t>(at); }

  Span& span(std::size_t tensor, std::size_t device) {
    return spans_[tensor * chain_.devices + device];
  }

  bool is_anywhere(std::size_t tensor) {
    for (std::size_t d = 0; d < chain_.devices; ++d)
      if (span(tensor, d).is_there()) return true;
    return false;
  }

  /// Brings the tensor to the present device. Other devices that hold it keep theirs.
  void bring(std::size_t tensor, std::size_t at, std::int64_t bytes) {
    close(tensor, device_);
    span(tensor, device_) = {index(at), index(at), bytes};
  }

  void close(std::size_t tensor, std::size_t device) {
    const Span ended = std::exchange(span(tensor, device), {});
    if (!ended.is_there() || ended.bytes == 0) return;
    std::int64_t* change = change_.data() + device * (operations_ + 1);
    change[ended.first] += ended.bytes;
    change[ended.last + 1] -= ended.bytes;
    if (chain_.side_by_side > 1)
      lifetimes_[device].push_back({ended.first, ended.last, ended.bytes});
  }

  std::string name(std::size_t tensor) const {
    if (tensor <= count_) return "boundary " + std::to_string(tensor);
    if (tensor <= 2 * count_)
      return "the inner tensors of stage " + std::to_string(tensor - count_ - 1);
    return "the gradient of boundary " + std::to_string(tensor - 2 * count_ - 1);
  }

  const Chain& chain_;
  std::size_t count_, operations_;
  std::size_t device_ = 0;
  std::vector<Span> spans_;  ///< for each tensor, one span per device
  std::vector<bool> saved_;
  /// The bytes that come minus the bytes that go, at each operation: first all operations for device 0, and so on.
  std::vector<std::int64_t> change_;
  std::vector<std::vector<Lifetime>> lifetimes_;  ///< indexed by device
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
void take_one_after_the_other(const Chain& chain, const std::vector<std::size_t>& passes,
                              const std::vector<Lifetimes::Lifetime>& lifetimes,
                              std::vector<std::int64_t>& bytes) {
  std::vector<std::int64_t> comes(bytes.size(), 0), goes(bytes.size(), 0), both(bytes.size(), 0);
  for (const Lifetimes::Lifetime& tensor : lifetimes) {
    const std::size_t first = passes[tensor.first], last = passes[tensor.last];
    if (first == last) {
      both[first] += tensor.bytes;
      continue;
    }
    comes[first] += tensor.bytes;
    goes[last] += tensor.bytes;
  }
  for (std::size_t at = 0; at < bytes.size(); ++at) {
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

bool copies(const TapeOp& op) {
  return op.kind == TapeOp::Kind::save || op.kind == TapeOp::Kind::load;
}

/// Adds to `bytes` the weights that take turns on this device, between the passes of a run of their stage (ChainTurn).
/// In these passes, the workspace contains the weights.
void hold_weights(const Chain& chain, const Tape& tape, std::size_t device,
                  std::vector<std::int64_t>& bytes) {
  std::size_t last = tape.size();  // the last pass of a stage with such weights
  for (std::size_t at = 0; at < tape.size(); ++at) {
    const std::size_t stage = tape[at].number;
    if (copies(tape[at]) || chain.stages[stage].turn.bytes == 0) continue;
    if (last < at && tape[last].number == stage && chain.device(stage) == device)
      while (++last < at) bytes[last] += chain.stages[stage].turn.bytes;
    last = at;
  }
}

/// Returns TapeMemory::bytes. `passes` is the result of passes_of(), and may be empty for a chain with one device whose
/// micro-batches do not run side by side.
std::vector<std::int64_t> bytes_on_devices(const Chain& chain, const Tape& tape,
                                           const std::vector<std::size_t>& passes) {
  const auto device_at = [&](std::size_t at) {
    return chain.devices == 1 ? 0 : chain.device(tape[passes[at]].number);
  };
  Lifetimes live(chain, tape.size());
  std::vector<std::int64_t> workspace(tape.size());
  for (std::size_t at = 0; at < tape.size(); ++at) {
    live.go_to(device_at(at));
    workspace[at] = perform(chain, live, tape[at], at);
  }
  live.end();
  std::vector<std::int64_t> most(tape.size(), 0);
  for (std::size_t d = 0; d < chain.devices; ++d) {
    std::vector<std::int64_t> bytes = live.totals(d);
    if (chain.side_by_side > 1) take_one_after_the_other(chain, passes, live.lifetimes(d), bytes);
    hold_weights(chain, tape, d, bytes);
    for (std::size_t at = 0; at < tape.size(); ++at) {
      const std::int64_t all =
          bytes[at] + chain.occupied_on(d) + (device_at(at) == d ? workspace[at] : 0);
      most[at] = std::max(most[at], static_cast<std::int64_t>(chain.devices) * all);
    }
  }
  return most;
}

}  // namespace

TapeMemory memory_of(const Chain& chain, const Tape& tape) {
  const bool one_device = chain.devices == 1, one_by_one = chain.side_by_side == 1;
  const auto passes = one_device && one_by_one ? std::vector<std::size_t>() : passes_of(tape);
  std::optional<std::vector<std::int64_t>> bytes;
  if (one_device) bytes = bytes_from_end(chain, tape, passes);
  if (bytes)
    hold_weights(chain, tape, 0, *bytes);
  else  // if the tape is wrong, this says how
    bytes = bytes_on_devices(chain, tape, passes);
  TapeMemory memory{std::move(*bytes)};
  for (std::size_t at = 0; at < tape.size(); ++at)
    if (!copies(tape[at]) || one_by_one) memory.peak = std::max(memory.peak, memory.bytes[at]);
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
  const auto turns = [](const ChainStage& stage) { return stage.turn.bytes > 0; };
  if (std::any_of(chain.stages.begin(), chain.stages.end(), turns))
    for (const TapeOp& op : tape) begins(op);
}

bool RunsOfStages::begins(const TapeOp& op) {
  if (copies(op) || chain_.stages[op.number].turn.bytes == 0) return false;
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
