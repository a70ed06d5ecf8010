#include "fates/optimal/tape_descent.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/interrupt.hpp"
#include "fates/device_tape.hpp"

namespace sluice {
namespace {

using Kind = TapeOp::Kind;

/// The boundaries and the inner tensors of a chain. Boundary b has the number b, and the inner tensors of stage s have
/// the number n + 1 + s, where n is the number of stages. If several devices take turns, each of them may hold a
/// tensor. A place is a tensor on a device.
class Tensors {
 public:
  explicit Tensors(const Chain& chain) : chain_(chain), stages_(chain.stages.size()) {}

  std::size_t count() const { return 2 * stages_ + 1; }
  std::size_t places() const { return count() * chain_.devices; }
  std::size_t place(std::size_t tensor, std::size_t device) const {
    return tensor * chain_.devices + device;
  }
  std::size_t tensor_at(std::size_t place) const { return place / chain_.devices; }
  std::vector<std::uint32_t> devices(const Tape& tape) const {
    return devices_of(tape, chain_.devices);
  }
  std::size_t inner(std::size_t s) const { return stages_ + 1 + s; }
  /// The tensor that a save or a load moves.
  std::size_t moved(const TapeOp& op) const { return op.inner ? inner(op.number) : op.number; }
  bool is_inner(std::size_t tensor) const { return tensor > stages_; }
  const ChainTensor& operator[](std::size_t tensor) const {
    return is_inner(tensor) ? chain_.stages[tensor - stages_ - 1].inner : chain_.boundary(tensor);
  }

  /// Returns the stage that makes the tensor, which must not be boundary 0.
  std::size_t maker(std::size_t tensor) const {
    return is_inner(tensor) ? tensor - stages_ - 1 : tensor - 1;
  }
  /// Returns whether the stage that makes the tensor is on the device of this place.
  bool is_made_at(std::size_t place) const {
    const std::size_t tensor = tensor_at(place);
    return tensor > 0 && chain_.device(maker(tensor)) == place % chain_.devices;
  }
  TapeOp load(std::size_t tensor) const { return copy(Kind::load, tensor); }
  TapeOp save(std::size_t tensor) const { return copy(Kind::save, tensor); }

  /// Calls use(place) for each tensor that the operation, which runs on this device, reads.
  template <typename Use>
  void each_read(const TapeOp& op, std::size_t device, const Use& use) const {
    if (op.kind == Kind::load) return;
    if (op.kind == Kind::save) return use(place(moved(op), device));
    each_boundary_read(chain_, op, [&](std::size_t b) { use(place(b, device)); });
    if (op.kind == Kind::backward && has_inner(op.number)) use(place(inner(op.number), device));
  }

  /// Calls use(place) for each tensor that the operation makes or loads.
  template <typename Use>
  void each_brought(const TapeOp& op, std::size_t device, const Use& use) const {
    if (op.kind == Kind::load) return use(place(moved(op), device));
    if (op.kind != Kind::forward) return;
    use(place(op.number + std::size_t{1}, device));
    if (op.inner) use(place(inner(op.number), device));
  }

  bool has_inner(std::size_t s) const { return chain_.stages[s].inner.bytes > 0; }

 private:
  TapeOp copy(Kind kind, std::size_t tensor) const {
    const bool inner = is_inner(tensor);
    return {kind, static_cast<std::uint32_t>(inner ? maker(tensor) : tensor), inner};
  }

  const Chain& chain_;
  std::size_t stages_;
};

/// Returns for each operation of a tape whether it is a pass that runs again.
std::vector<char> run_again(const Tensors& tensors, const Tape& tape) {
  std::vector<char> again(tape.size(), 0), ran(tensors.count(), 0);
  for (std::size_t at = 0; at < tape.size(); ++at)
    if (tape[at].kind == Kind::forward) again[at] = std::exchange(ran[tape[at].number], 1);
  return again;
}

class TapeDescent {
 public:
  TapeDescent(const Chain& chain, std::int64_t budget)
      : chain_(chain),
        tensors_(chain),
        budget_(budget),
        left_(400'000 / static_cast<std::int64_t>(chain.stages.size()) + 500) {}

  Tape improve(Tape tape) {
    seconds_ = serial_seconds(chain_, tape);
    for (bool better = true; better && left_ > 0;) {
      better = false;
      std::vector<char> again = run_again(tensors_, tape);
      for (std::size_t at = tape.size(); at-- > 1 && left_ > 0;) {
        if (at >= tape.size()) continue;  // the tape has become shorter
        if (tape[at].kind != Kind::load && !again[at]) continue;
        Tape changed = without(tape, at);
        if (!make_fit(changed)) continue;
        seconds_ = serial_seconds(chain_, changed);
        tape = std::move(changed);
        again = run_again(tensors_, tape);
        better = true;
      }
    }
    return tape;
  }

 private:
  /// The greatest number of tensors that leave the device in one step, and the greatest number of tensors that are
  /// compared for this.
  static constexpr int most_left = 8, most_compared = 12;

  bool improves(double seconds) const { return seconds < seconds_ * (1 - 1e-12); }

  Tape without(const Tape& from, std::size_t at) const {
    Tape tape = from;
    const TapeOp op = tape[at];
    tape.erase(tape.begin() + static_cast<std::ptrdiff_t>(at));
    if (op.kind == Kind::forward && op.inner) keep_inner_before(op.number, at, tape);
    return without_idle_operations(chain_, tape);
  }

  /// Lets the last forward pass of stage s before position `at` keep the inner tensors, unless they are loaded after
  /// it.
  static void keep_inner_before(std::size_t s, std::size_t at, Tape& tape) {
    while (at-- > 0) {
      TapeOp& op = tape[at];
      if (op.number != s || op.kind == Kind::backward || op.kind == Kind::save) continue;
      if (op.kind == Kind::load && !op.inner) continue;
      op.inner = true;
      return;
    }
  }

  /// Changes the tape until it fits. Returns false if it does not fit in the end, or does not take fewer seconds than
  /// the best tape.
  bool make_fit(Tape& tape) {
    for (int i = 0; i <= most_left; ++i) {
      if (!improves(serial_seconds(chain_, tape))) return false;
      const TapeMemory memory = measure(tape);
      if (memory.peak <= budget_) return fits_in_host(chain_, tape);
      if (i == most_left || !let_leave(tape, memory)) return false;
    }
    return false;
  }

  TapeMemory measure(const Tape& tape) {
    --left_;
    check_interrupt();
    return memory_of(chain_, tape);
  }

  /// A tensor that a device holds during some operation, which neither reads nor brings it there. The operation `next`
  /// reads it there next, and `before` is the last operation that used it there.
  struct IdleTensor {
    std::size_t place = 0, tensor = 0, before = 0, next = 0;
  };

  /// Returns the tensors that are idle during operation `at`.
  std::vector<IdleTensor> idle_at(const Tape& tape, std::size_t at) const {
    constexpr std::size_t never = static_cast<std::size_t>(-1);
    const std::vector<std::uint32_t> device = tensors_.devices(tape);
    std::vector<IdleTensor> all(tensors_.places());
    for (std::size_t x = 0; x < all.size(); ++x) all[x] = {x, tensors_.tensor_at(x), never, never};
    std::vector<char> settled(all.size(), 0);
    for (std::size_t i = 0; i <= at; ++i) {
      const auto use = [&](std::size_t x) { all[x].before = i, settled[x] = i == at; };
      tensors_.each_read(tape[i], device[i], use);
      tensors_.each_brought(tape[i], device[i], use);
    }
    for (std::size_t i = at + 1; i < tape.size(); ++i) {
      tensors_.each_read(tape[i], device[i], [&](std::size_t x) {
        if (!std::exchange(settled[x], 1)) all[x].next = i;
      });
      tensors_.each_brought(tape[i], device[i], [&](std::size_t x) { settled[x] = 1; });
    }
    std::erase_if(all, [&](const IdleTensor& idle) {
      return idle.before == never || idle.next == never || tensors_[idle.tensor].bytes == 0;
    });
    return all;
  }

  /// A way to bring an idle tensor back before its next use.
  struct Way {
    IdleTensor idle;
    bool copies = false;  ///< whether it is loaded, and not made again
    double seconds_per_byte = 0;
  };

  /// Returns the ways for the tensors that are idle where the tape needs the most bytes. The bytes that a tensor has
  /// beyond the missing bytes do not count. The cheapest ways come first.
  std::vector<Way> ways(const Tape& tape, const TapeMemory& memory) const {
    const auto most = std::max_element(memory.bytes.begin(), memory.bytes.end());
    const auto at = static_cast<std::size_t>(most - memory.bytes.begin());
    std::vector<Way> all;
    for (const IdleTensor& idle : idle_at(tape, at)) {
      const ChainTensor& tensor = tensors_[idle.tensor];
      const auto bytes = static_cast<double>(std::min(tensor.bytes, *most - budget_));
      all.push_back({.idle = idle,
                     .copies = true,
                     .seconds_per_byte = (tensor.save_s + tensor.load_s) / bytes});
      if (!tensors_.is_made_at(idle.place)) continue;
      const double again_s = chain_.stages[tensors_.maker(idle.tensor)].forward_s;
      all.push_back({.idle = idle, .seconds_per_byte = again_s / bytes});
    }
    std::ranges::stable_sort(all, {}, &Way::seconds_per_byte);
    if (all.size() > most_compared) all.resize(most_compared);
    return all;
  }

  /// Lets one tensor leave the device where the tape needs the most bytes. Takes the tensor whose bytes cost the fewest
  /// seconds. Returns false if there is none.
  bool let_leave(Tape& tape, const TapeMemory& memory) {
    const double before_s = serial_seconds(chain_, tape);
    const auto times = [](const TapeMemory& one, std::int64_t bytes) {
      return std::ranges::count(one.bytes, bytes);
    };
    Tape best;
    double least = 0;
    for (const Way& way : ways(tape, memory)) {
      Tape changed = tape;
      way.copies ? load_again(changed, way.idle) : make_again(changed, way.idle);
      const double seconds = serial_seconds(chain_, changed);
      if (!improves(seconds)) continue;
      const TapeMemory after = measure(changed);
      const std::int64_t freed = memory.peak - std::max(budget_, after.peak);
      // If the most bytes are needed at several places, it helps to need them at fewer places.
      if (freed < 0 || (freed == 0 && times(after, after.peak) >= times(memory, memory.peak)))
        continue;
      const double cost = (seconds - before_s) / (freed > 0 ? static_cast<double>(freed) : 1e-3);
      if (!best.empty() && cost >= least) continue;
      least = cost;
      best = std::move(changed);
    }
    if (best.empty()) return false;
    tape = std::move(best);
    return true;
  }

  void make_again(Tape& tape, const IdleTensor& idle) const {
    // The pass may keep inner tensors. If nobody reads them, without_idle_operations() changes this.
    const auto stage = static_cast<std::uint32_t>(tensors_.maker(idle.tensor));
    insert(tape, idle.next, {.kind = Kind::forward, .number = stage, .inner = true});
    tape = without_idle_operations(chain_, tape);
  }

  /// Loads the tensor before its next use. If no save comes before, saves it where it first comes to the device.
  void load_again(Tape& tape, const IdleTensor& idle) const {
    insert(tape, idle.next, tensors_.load(idle.tensor));
    const TapeOp save = tensors_.save(idle.tensor);
    const auto saved = std::ranges::find(tape, save);
    const auto known = static_cast<std::size_t>(saved - tape.begin());
    if (idle.tensor == 0 || known <= idle.before) return;
    if (saved != tape.end()) tape.erase(saved);
    std::size_t maker = 0;
    const std::vector<std::uint32_t> device = tensors_.devices(tape);
    for (bool made = false; !made; ++maker)
      tensors_.each_brought(tape[maker], device[maker], [&](std::size_t x) {
        made = made || tensors_.tensor_at(x) == idle.tensor;
      });
    insert(tape, maker, save);
  }

  static void insert(Tape& tape, std::size_t at, const TapeOp& op) {
    tape.insert(tape.begin() + static_cast<std::ptrdiff_t>(at), op);
  }

  const Chain& chain_;
  Tensors tensors_;
  std::int64_t budget_;
  std::int64_t left_;   ///< the number of tapes whose memory may still be computed
  double seconds_ = 0;  ///< the seconds of the best tape
};

}  // namespace

Tape without_idle_operations(const Chain& chain, const Tape& tape) {
  const Tensors tensors(chain);
  const std::vector<char> again = run_again(tensors, tape);
  const std::vector<std::uint32_t> device = tensors.devices(tape);
  std::vector<char> read(tensors.places(), 0), loaded(tensors.count(), 0);
  Tape kept;
  for (std::size_t at = tape.size(); at-- > 0;) {
    TapeOp op = tape[at];
    if (op.kind == Kind::save && !loaded[tensors.moved(op)]) continue;
    if (op.kind == Kind::load) {
      if (at > 0 && !read[tensors.place(tensors.moved(op), device[at])]) continue;
      loaded[tensors.moved(op)] = 1;
    }
    if (op.kind == Kind::forward) {
      const auto is_read = [&](std::size_t tensor) {
        return read[tensors.place(tensor, device[at])] != 0;
      };
      if (tensors.has_inner(op.number)) op.inner = op.inner && is_read(tensors.inner(op.number));
      const bool inner = op.inner && tensors.has_inner(op.number);
      if (again[at] && !is_read(op.number + std::size_t{1}) && !inner) continue;
    }
    tensors.each_brought(op, device[at], [&](std::size_t x) { read[x] = 0; });
    tensors.each_read(op, device[at], [&](std::size_t x) { read[x] = 1; });
    kept.push_back(op);
  }
  std::ranges::reverse(kept);
  return kept;
}

Tape improved_tape(const Chain& chain, std::int64_t budget, const Tape& tape) {
  const Tape shorter = without_idle_operations(chain, tape);
  // A pass that keeps no inner tensors may need more workspace.
  const bool fits = memory_of(chain, shorter).peak <= budget;
  return TapeDescent(chain, budget).improve(fits ? shorter : tape);
}

}  // namespace sluice
