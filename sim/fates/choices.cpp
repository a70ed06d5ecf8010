#include "fates/choices.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hpp"

namespace sluice {
namespace {

using Kind = TapeOp::Kind;

void check(const Chain& chain, const Choices& choices) {
  const std::size_t n = chain.stages.size();
  if (choices.inner.size() != n || choices.boundary.size() != n + 1)
    throw InternalError(std::to_string(n) + " stages have " + std::to_string(choices.inner.size()) +
                        " fates and " + std::to_string(choices.boundary.size()) +
                        " of their boundaries");
  for (std::size_t b = 0; b <= n; ++b) {
    if (choices.boundary[b] != Fate::recompute) continue;
    if (b > 0 && b < n && choices.inner[b - 1] == Fate::recompute) continue;
    throw InternalError("boundary " + std::to_string(b) +
                        " is dropped, and no stage makes it again");
  }
}

class Writer {
 public:
  Writer(const Chain& chain, const Choices& choices)
      : chain_(chain), choices_(choices), count_(chain.stages.size()), absent_(count_ + 1) {}

  Tape write() {
    if (chain_.input.bytes > 0) tape_.push_back({Kind::load, 0, false});
    for (std::size_t s = 0; s < count_; ++s) forward(s);
    absent_[0] = goes(0);
    for (std::size_t s = count_; s-- > 0;) backward(s);
    return std::move(tape_);
  }

 private:
  bool recomputes(std::size_t s) const { return choices_.inner[s] == Fate::recompute; }

  bool dropped(std::size_t b) const { return choices_.boundary[b] == Fate::recompute; }

  bool inner_goes(std::size_t s) const {
    return choices_.inner[s] == Fate::offload && chain_.stages[s].inner.bytes > 0;
  }

  /// Whether the copy that the first forward makes of boundary b is read in the backward half.
  bool is_read_later(std::size_t b) const {
    if (dropped(b)) return false;
    if (b < count_ && recomputes(b)) return true;
    if (b < count_ && chain_.stages[b].reads_input) return true;
    return b > 0 && !recomputes(b - 1) && chain_.stages[b - 1].reads_output;
  }

  bool goes(std::size_t b) const {
    return choices_.boundary[b] == Fate::offload && chain_.boundary(b).bytes > 0 &&
           is_read_later(b);
  }

  void add(Kind kind, std::size_t number, bool inner) {
    tape_.push_back({kind, static_cast<std::uint32_t>(number), inner});
  }

  void forward(std::size_t s) {
    add(Kind::forward, s, !recomputes(s));
    if (inner_goes(s)) add(Kind::save, s, true);
    absent_[s + 1] = goes(s + 1);
    if (absent_[s + 1]) add(Kind::save, s + 1, false);
  }

  void fetch(std::size_t b) {
    if (absent_[b]) add(Kind::load, b, false);
    absent_[b] = false;
  }

  /// Stage s ends a segment, or the next one reads its output: it runs again, from its checkpoint.
  void run_again(std::size_t s) {
    std::size_t first = s;
    while (first > 0 && dropped(first)) --first;
    fetch(first);
    for (std::size_t i = first; i <= s; ++i) {
      add(Kind::forward, i, true);
      absent_[i + 1] = false;
    }
    again_from_ = first;
  }

  void backward(std::size_t s) {
    if (recomputes(s) && s < again_from_) run_again(s);
    if (!recomputes(s) && dropped(s) && chain_.stages[s].reads_input) run_again(s - 1);
    if (chain_.stages[s].reads_output) fetch(s + 1);
    if (inner_goes(s)) add(Kind::load, s, true);
    if (chain_.stages[s].reads_input) fetch(s);
    add(Kind::backward, s, false);
  }

  const Chain& chain_;
  const Choices& choices_;
  std::size_t count_;
  std::vector<bool> absent_;                               ///< by boundary: only in host memory
  std::size_t again_from_ = static_cast<std::size_t>(-1);  ///< the last segment that ran again
  Tape tape_;
};

}  // namespace

Choices choices_of(const Chain& chain, const std::vector<Fate>& fates) {
  const std::size_t n = chain.stages.size();
  if (fates.size() != n)
    throw InternalError(std::to_string(n) + " stages have " + std::to_string(fates.size()) +
                        " fates");
  Choices choices{fates, std::vector<Fate>(n + 1, Fate::keep)};
  if (n > 0 && fates[0] == Fate::offload) choices.boundary[0] = Fate::offload;
  for (std::size_t b = 1; b <= n; ++b) {
    const bool follows = fates[b - 1] == Fate::recompute && b < n;
    choices.boundary[b] = follows ? fates[b] : fates[b - 1];
  }
  choices.boundary[n] = Fate::keep;  // the loss reads it at once
  return choices;
}

Tape tape_of(const Chain& chain, const Choices& choices) {
  check(chain, choices);
  return Writer(chain, choices).write();
}

Tape tape_of(const Chain& chain, const std::vector<Fate>& fates) {
  return tape_of(chain, choices_of(chain, fates));
}

Tape sqrt_tape(const Chain& chain) {
  const std::size_t n = chain.stages.size();
  const std::size_t segments =
      std::max<std::size_t>(1, std::lround(std::sqrt(static_cast<double>(n))));
  Choices choices{std::vector<Fate>(n, Fate::recompute), std::vector<Fate>(n + 1, Fate::recompute)};
  choices.boundary[n] = Fate::keep;
  for (std::size_t i = 0; i < segments; ++i) choices.boundary[i * n / segments] = Fate::keep;
  for (std::size_t s = (segments - 1) * n / segments; s < n; ++s) {
    choices.inner[s] = Fate::keep;
    choices.boundary[s] = Fate::keep;
  }
  return tape_of(chain, choices);
}

Tape checkpoint_tape(const Chain& chain) {
  const std::size_t n = chain.stages.size();
  return tape_of(chain, Choices{std::vector(n, Fate::recompute), std::vector(n + 1, Fate::keep)});
}

std::vector<Tape> alike_tapes(const Chain& chain) {
  std::vector<Tape> tapes;
  for (const Fate fate : {Fate::keep, Fate::recompute, Fate::offload})
    tapes.push_back(tape_of(chain, std::vector<Fate>(chain.stages.size(), fate)));
  tapes.push_back(checkpoint_tape(chain));
  tapes.push_back(sqrt_tape(chain));
  return tapes;
}

}  // namespace sluice
