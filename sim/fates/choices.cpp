#include "fates/choices.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "fates/device_tape.hpp"

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
                        " is dropped, but the fate of the stage that makes it is not recompute");
  }
}

/// The backward half of a step follows the first forward pass of the last stage. It has the backward
/// passes, and the forward passes that run again. This class finds the stages whose forward pass runs
/// again, and the boundaries that the backward half reads.
class Recomputations {
 public:
  Recomputations(const Chain& chain, const Choices& choices)
      : chain_(chain),
        choices_(choices),
        runs_(chain.stages.size()),
        read_again_(chain.stages.size() + 1),
        read_backward_(chain.stages.size() + 1) {
    for (std::size_t s = chain.stages.size(); s-- > 0;) {
      runs_[s] = recomputes(s) && (chain.stages[s].inner.bytes > 0 || is_made_again(s + 1));
      chain.each_read(s, [&](std::size_t b, bool backward) {
        if (runs_[s]) read_again_[b] = true;
        if (backward) read_backward_[b] = true;
      });
    }
  }

  bool recomputes(std::size_t s) const { return choices_.inner[s] == Fate::recompute; }
  bool runs(std::size_t s) const { return runs_[s]; }
  bool dropped(std::size_t b) const { return choices_.boundary[b] == Fate::recompute; }

  /// A boundary has two versions if the stage that makes it runs again. Returns whether the backward half reads the
  /// first version of boundary b.
  bool is_read_later(std::size_t b) const {
    if (dropped(b)) return false;
    return read_again_[b] || read_backward_[b] || (ends_backward(b) && !runs_[b - 1]);
  }

 private:
  bool is_made_again(std::size_t b) const {
    return dropped(b) && (read_again_[b] || read_backward_[b] || ends_backward(b));
  }
  /// Returns whether the backward pass of the stage that makes boundary b reads b.
  bool ends_backward(std::size_t b) const { return b > 0 && chain_.stages[b - 1].reads_output; }

  const Chain& chain_;
  const Choices& choices_;
  std::vector<char> runs_;  ///< indexed by stage
  /// For each boundary: whether a stage reads it when the stage runs again, and whether a later stage's backward pass
  /// reads it.
  std::vector<char> read_again_, read_backward_;
};

class Writer {
 public:
  Writer(const Chain& chain, const Choices& choices)
      : chain_(chain),
        choices_(choices),
        recomputations_(chain, choices),
        count_(chain.stages.size()),
        absent_(count_ + 1),
        ran_again_(count_),
        due_(count_) {}

  Tape write() {
    tape_.reserve(3 * count_);
    if (chain_.input.bytes > 0) add(Kind::load, 0);
    for (std::size_t s = 0; s < count_; ++s) forward(s);
    absent_[0] = goes(0);
    for (std::size_t s = count_; s-- > 0;) backward(s);
    return std::move(tape_);
  }

 private:
  bool inner_goes(std::size_t s) const {
    return choices_.inner[s] == Fate::offload && chain_.stages[s].inner.bytes > 0;
  }

  bool goes(std::size_t b) const {
    return choices_.boundary[b] == Fate::offload && chain_.boundary(b).bytes > 0 &&
           recomputations_.is_read_later(b);
  }

  void add(Kind kind, std::size_t number, bool inner = false) {
    tape_.push_back({kind, static_cast<std::uint32_t>(number), inner});
  }

  void forward(std::size_t s) {
    add(Kind::forward, s, !recomputations_.recomputes(s));
    if (inner_goes(s)) add(Kind::save, s, /*inner=*/true);
    absent_[s + 1] = goes(s + 1);
    if (absent_[s + 1]) add(Kind::save, s + 1);
  }

  void fetch(std::size_t b) {
    if (absent_[b]) add(Kind::load, b);
    absent_[b] = false;
  }

  /// Runs the forward pass of stage s again. If it needs dropped outputs of earlier stages, these stages run again
  /// first.
  void run_again(std::size_t s) {
    if (ran_again_[s]) return;
    // A stage is due if it must run again and has not done so yet. `missing` is the number of due stages before stage
    // `first`.
    std::size_t missing = 0, first = s + 1;
    const auto mark = [&](std::size_t stage) {
      if (ran_again_[stage]) return;
      ran_again_[stage] = due_[stage] = true;
      ++missing;
    };
    mark(s);
    while (missing > 0) {
      if (!due_[--first]) continue;
      --missing;
      chain_.each_read(first, [&](std::size_t b, bool) {
        if (recomputations_.dropped(b)) mark(b - 1);
      });
    }
    for (std::size_t i = first; i <= s; ++i) {
      if (!due_[i]) continue;
      due_[i] = false;
      chain_.each_read(i, [&](std::size_t b, bool) { fetch(b); });
      add(Kind::forward, i, /*inner=*/true);
      absent_[i + 1] = false;
    }
  }

  void backward(std::size_t s) {
    const ChainStage& stage = chain_.stages[s];
    if (recomputations_.runs(s)) run_again(s);
    chain_.each_read(s, [&](std::size_t b, bool read) {
      if (read && recomputations_.dropped(b)) run_again(b - 1);
    });
    if (stage.reads_output) fetch(s + 1);
    if (inner_goes(s)) add(Kind::load, s, /*inner=*/true);
    chain_.each_read(s, [&](std::size_t b, bool read) {
      if (read) fetch(b);
    });
    add(Kind::backward, s);
    // An offloaded boundary leaves the device after each backward pass that reads it. It is loaded again for the next
    // such pass. No later pass reads boundary s, so it is not marked as absent.
    chain_.each_read(s, [&](std::size_t b, bool read) {
      if (read && b < s && goes(b)) absent_[b] = true;
    });
  }

  const Chain& chain_;
  const Choices& choices_;
  Recomputations recomputations_;
  std::size_t count_;
  std::vector<char> absent_;     ///< for each boundary, whether it is only in host memory
  std::vector<char> ran_again_;  ///< per stage
  std::vector<char> due_;        ///< for each stage, whether it must run again now
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
  for (std::size_t b = 1; b < n; ++b) choices.boundary[b] = fates[b - 1];
  const bool at_once = n > 1 && fates[n - 1] != Fate::recompute;
  if (at_once && fates[n - 2] == Fate::recompute) choices.boundary[n - 1] = Fate::keep;
  return choices;
}

Tape tape_of(const Chain& chain, const Choices& choices) {
  check(chain, choices);
  return on_devices(chain, chain.devices, Writer(chain, choices).write());
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
  for (std::size_t i = 0; i < segments; ++i) {
    const std::size_t first = i * n / segments;
    choices.boundary[first] = Fate::keep;
    // Stage `first` begins a segment. If the chain branches, this stage and the stages after it may read several
    // boundaries that earlier stages make. All of these boundaries are kept.
    for (std::size_t s = first; s < n; ++s)
      chain.each_read(s, [&](std::size_t b, bool) {
        if (b <= first) choices.boundary[b] = Fate::keep;
      });
  }
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
