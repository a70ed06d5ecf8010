// The local search for fates: it starts with known fates, and changes one choice or two choices at
// a time.
#include <limits>
#include <utility>

#include "fates/optimal/rounding.hpp"
#include "fates/optimal/search.hpp"

namespace sluice {

namespace {

using Kind = TapeOp::Kind;

constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

Fate& fate_at(Choices& choices, std::size_t place) {
  const std::size_t n = choices.inner.size();
  return place < n ? choices.inner[place] : choices.boundary[place - n];
}

void keep_what_nobody_makes(Choices& choices) {
  const std::size_t n = choices.inner.size();
  for (std::size_t b = 0; b <= n; ++b)
    if (choices.boundary[b] == Fate::recompute &&
        (b == 0 || b == n || choices.inner[b - 1] != Fate::recompute))
      choices.boundary[b] = Fate::keep;
}

Choices choices_of(const Chain& chain, const Tape& tape) {
  const std::size_t n = chain.stages.size();
  Choices choices{std::vector<Fate>(n, Fate::keep), std::vector<Fate>(n + 1, Fate::keep)};
  std::vector<int> forwards(n, 0);
  bool turned = false;
  for (const TapeOp& op : tape) {
    if (op.kind == Kind::backward) turned = true;
    if (op.kind == Kind::save && (op.inner || chain.devices == 1))
      (op.inner ? choices.inner : choices.boundary)[op.number] = Fate::offload;
    if (op.kind == Kind::load && !op.inner && op.number == 0 && turned)
      choices.boundary[0] = Fate::offload;
    // Of several devices, the others also load a boundary that has been made again. Such a boundary is not offloaded.
    if (op.kind == Kind::load && !op.inner && op.number > 0 && chain.devices > 1 &&
        forwards[op.number - 1] < 2)
      choices.boundary[op.number] = Fate::offload;
    if (op.kind != Kind::forward || ++forwards[op.number] < 2) continue;
    choices.inner[op.number] = Fate::recompute;
    // If the previous stage has also run again, the input of this stage was dropped.
    if (op.number > 0 && forwards[op.number - 1] >= 2 && choices.boundary[op.number] == Fate::keep)
      choices.boundary[op.number] = Fate::recompute;
  }
  keep_what_nobody_makes(choices);
  return choices;
}

/// Improves a list with one fate per stage. Each step changes one fate. In short chains, a step may change two fates.
void FateSearch::descend(std::vector<Fate> fates, Candidate& best) {
  Candidate here{{}, room_, infinite};
  take(tape_of(chain_, fates), here);
  const std::size_t n = fates.size();
  for (bool better = true; better && left_ > 0;) {
    better = false;
    std::vector<Fate> next = fates;
    const auto try_it = [&](const std::vector<Fate>& changed) {
      const Tape tape = tape_of(chain_, changed);
      const double about = estimate(tape);
      if (!(about < here.about * (1 - 1e-12))) return;
      here = {tape, room_, about};
      next = changed;
      better = true;
    };
    const auto each_change = [&](std::vector<Fate> from, std::size_t begin, auto&& use) {
      for (std::size_t s = begin; s < n && left_ > 0; ++s)
        for (const Fate fate : {Fate::keep, Fate::recompute, Fate::offload}) {
          const Fate was = std::exchange(from[s], fate);
          if (was != fate) use(from, s);
          from[s] = was;
        }
    };
    each_change(fates, 0, [&](const std::vector<Fate>& one, std::size_t s) {
      try_it(one);
      if (n <= 12)
        each_change(one, s + 1, [&](const std::vector<Fate>& two, std::size_t) { try_it(two); });
    });
    fates = next;
  }
  if (here.about < infinite) take(here.tape, best);
}

void FateSearch::improve(Candidate& best) {
  if (best.about == infinite) return;
  Choices choices = choices_of(chain_, best.tape);
  while (left_ > 0 && improve_once(choices, best)) {
  }
  if (chain_.devices == 1) return;
  // With these choices, all devices that use a boundary keep it, or all load it. Without one of the loads, its device
  // keeps the boundary.
  for (bool better = true; better && left_ > 0;) {
    better = false;
    for (std::size_t at = best.tape.size(); at-- > 1 && left_ > 0;) {
      if (best.tape[at].kind != Kind::load || best.tape[at].inner) continue;
      Tape fewer = best.tape;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at));
      const double before = best.about;
      better = take(fewer, best) < before || better;
    }
  }
}

/// Makes the best change of one choice. If no such change is an improvement, makes the best change of two choices.
/// Returns false if no change is an improvement.
bool FateSearch::improve_once(Choices& choices, Candidate& best) {
  const std::size_t n = chain_.stages.size();
  const std::size_t places = 2 * n + 1;  // the number of choices that fate_at() can return
  const auto each_change = [&](const Choices& from, std::size_t begin, auto&& use) {
    Choices changed = from;
    for (std::size_t place = begin; place < places && left_ > 0; ++place)
      for (const Fate fate : {Fate::keep, Fate::offload, Fate::recompute}) {
        changed = from;
        if (std::exchange(fate_at(changed, place), fate) == fate) continue;
        keep_what_nobody_makes(changed);
        if (!(changed == from)) use(changed, place);
      }
  };
  const double before = best.about;
  Choices next = choices;
  const auto try_it = [&](const Choices& changed) {
    const Tape tape = tape_of(chain_, changed);
    const double about = estimate(tape);
    if (!(about < best.about * (1 - 1e-12))) return;
    best = {tape, room_, about};
    next = changed;
  };
  each_change(choices, 0, [&](const Choices& changed, std::size_t) { try_it(changed); });
  if (best.about == before && n <= 12)
    each_change(choices, 0, [&](const Choices& changed, std::size_t place) {
      each_change(changed, place + 1, [&](const Choices& twice, std::size_t) { try_it(twice); });
    });
  choices = next;
  return best.about < before;
}

}  // namespace sluice
