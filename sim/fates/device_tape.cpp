#include "fates/device_tape.hpp"

#include <utility>

namespace sluice {
namespace {

using Kind = TapeOp::Kind;

bool copies(const TapeOp& op) {
  return op.kind == Kind::save || op.kind == Kind::load;
}

class DeviceTape {
 public:
  DeviceTape(const Chain& chain, std::size_t devices, const Tape& from)
      : chain_(chain),
        devices_(devices),
        from_(from),
        device_of_(devices_of(from, devices)),
        state_((chain.stages.size() + 1) * devices, State::never),
        saved_(chain.stages.size() + 1, 0),
        must_save_(chain.stages.size() + 1, 0) {
    saved_[0] = 1;  // the input is in host memory from the start
  }

  Tape tape() {
    for (std::size_t at = 0; at < from_.size(); ++at) take(at);
    return with_missing_saves();
  }

 private:
  /// Whether a device holds a boundary. `lost` means that it has held the boundary, and must load it before it reads it
  /// again. The first transfer to another device needs no operation of the tape.
  enum class State : char { never, held, lost };
  State& state(std::size_t b, std::size_t device) { return state_[b * devices_ + device]; }

  void take(std::size_t at) {
    const TapeOp& op = from_[at];
    const std::size_t device = device_of_[at];
    if (op.inner && copies(op)) return tape_.push_back(op);
    switch (op.kind) {
      case Kind::save:
        saved_[op.number] = 1;
        return tape_.push_back(op);
      case Kind::load:
        lose(op.number);
        state(op.number, device) = State::lost;
        // The load stays where it is, unless the next pass does not need it.
        if (next_pass_reads(at)) need(op.number, device);
        return;
      case Kind::forward:
      case Kind::backward:
        each_boundary_read(chain_, op, [&](std::size_t b) { need(b, device); });
        tape_.push_back(op);
        if (op.kind == Kind::backward) return;
        lose(op.number + 1);
        state(op.number + 1, device) = State::held;
    }
  }

  void lose(std::size_t b) {
    for (std::size_t d = 0; d < devices_; ++d)
      if (state(b, d) == State::held) state(b, d) = State::lost;
  }

  void need(std::size_t b, std::size_t device) {
    if (std::exchange(state(b, device), State::held) != State::lost) return;
    if (chain_.boundary(b).bytes == 0) return;
    if (!saved_[b]) must_save_[b] = 1;
    tape_.push_back({.kind = Kind::load, .number = static_cast<std::uint32_t>(b)});
  }

  bool next_pass_reads(std::size_t at) const {
    const std::uint32_t loaded = from_[at].number;
    while (at < from_.size() && copies(from_[at])) ++at;
    bool reads = false;
    if (at < from_.size())
      each_boundary_read(chain_, from_[at], [&](std::size_t b) { reads = reads || b == loaded; });
    return reads;
  }

  /// A boundary that is loaded although the tape does not save it went to host memory on its way to another device.
  /// Adds the save after the pass that makes it first.
  Tape with_missing_saves() {
    Tape all;
    all.reserve(tape_.size());
    for (const TapeOp& op : tape_) {
      all.push_back(op);
      if (op.kind == Kind::forward && std::exchange(must_save_[op.number + 1], 0))
        all.push_back({.kind = Kind::save, .number = op.number + 1});
    }
    return all;
  }

  const Chain& chain_;
  std::size_t devices_;
  const Tape& from_;
  std::vector<std::uint32_t> device_of_;  ///< indexed by operation of `from_`
  std::vector<State> state_;              ///< indexed by boundary and device
  std::vector<char> saved_, must_save_;   ///< indexed by boundary
  Tape tape_;
};

}  // namespace

std::vector<std::uint32_t> devices_of(const Tape& tape, std::size_t devices) {
  std::vector<std::uint32_t> all(tape.size(), 0);
  if (devices == 1) return all;
  std::uint32_t device = 0;
  for (std::size_t at = 0; at < tape.size(); ++at) {
    if (!copies(tape[at])) device = static_cast<std::uint32_t>(tape[at].number % devices);
    all[at] = device;
  }
  for (std::size_t at = tape.size(); at-- > 0;) {
    if (tape[at].kind == Kind::load) all[at] = device;
    if (tape[at].kind != Kind::save) device = all[at];
  }
  return all;
}

Tape on_devices(const Chain& chain, std::size_t devices, const Tape& tape) {
  return devices == 1 ? tape : DeviceTape(chain, devices, tape).tape();
}

}  // namespace sluice
