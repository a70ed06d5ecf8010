#include "plan/passes/fate_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/interrupt.hpp"
#include "plan/passes/fate_bound.hpp"
#include "plan/passes/fate_rounding.hpp"

namespace sluice {

namespace {

using Kind = TapeOp::Kind;

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Budgets from the least that works to half as much again as keeping everything needs: the rest is
/// room for early loads.
std::vector<std::int64_t> rungs_between(std::int64_t least, std::int64_t most, std::size_t count) {
  std::vector<std::int64_t> rungs = {least};
  const double top = 1.5 * static_cast<double>(std::max(most, least));
  const double ratio = std::pow(top / static_cast<double>(std::max<std::int64_t>(least, 1)),
                                1.0 / static_cast<double>(count - 1));
  for (std::size_t k = 1; k < count; ++k) {
    const auto rung = static_cast<std::int64_t>(static_cast<double>(least) *
                                                std::pow(ratio, static_cast<double>(k)));
    if (rung > rungs.back()) rungs.push_back(rung);
  }
  return rungs;
}

std::vector<std::uint32_t> key_of(const Tape& tape) {
  std::vector<std::uint32_t> key;
  for (const TapeOp& op : tape)
    key.push_back((op.number << 3) | (static_cast<std::uint32_t>(op.kind) << 1) |
                  (op.inner ? 1u : 0u));
  return key;
}

/// Boundaries that are dropped where that is no choice stay instead.
void mend(Choices& choices) {
  const std::size_t n = choices.inner.size();
  for (std::size_t b = 0; b <= n; ++b)
    if (choices.boundary[b] == Fate::recompute &&
        (b == 0 || b == n || choices.inner[b - 1] != Fate::recompute ||
         choices.inner[b] != Fate::recompute))
      choices.boundary[b] = Fate::keep;
}

}  // namespace

Choices choices_of(const Chain& chain, const Tape& tape) {
  const std::size_t n = chain.stages.size();
  Choices choices{std::vector<Fate>(n, Fate::keep), std::vector<Fate>(n + 1, Fate::keep)};
  std::vector<int> forwards(n, 0);
  bool turned = false;
  for (const TapeOp& op : tape) {
    if (op.kind == Kind::backward) turned = true;
    if (op.kind == Kind::save)
      (op.inner ? choices.inner : choices.boundary)[op.number] = Fate::offload;
    if (op.kind == Kind::load && !op.inner && op.number == 0 && turned)
      choices.boundary[0] = Fate::offload;
    if (op.kind != Kind::forward || ++forwards[op.number] < 2) continue;
    choices.inner[op.number] = Fate::recompute;
    // Its input was made again just before it, so it had been dropped.
    if (op.number > 0 && forwards[op.number - 1] >= 2 && choices.boundary[op.number] == Fate::keep)
      choices.boundary[op.number] = Fate::recompute;
  }
  mend(choices);
  return choices;
}

FateSearch::FateSearch(const Chain& chain, FateScore score, Frontier serial)
    : chain_(chain), score_(std::move(score)) {
  const std::size_t n = chain.stages.size();
  const std::vector<double> prices =
      n <= 100 ? std::vector<double>{0.6, 0.3, 0.1, 0} : std::vector<double>{0.3};
  frontiers_.push_back(std::move(serial));
  for (const double price : prices)
    frontiers_.emplace_back(chain, FrontierSettings{.copy_price = price});
  const std::int64_t most = memory_of(chain, tape_of(chain, std::vector<Fate>(n, Fate::keep))).peak;
  rungs_ = rungs_between(least(), most, n <= 12 ? 48 : n <= 100 ? 24 : 8);
}

FateSearch::Answer FateSearch::within(std::int64_t budget) {
  std::size_t rung = 0;
  while (rung + 1 < rungs_.size() && rungs_[rung + 1] <= budget) ++rung;
  while (answers_.size() <= rung) answers_.push_back(search(rungs_[answers_.size()], 400));
  if (budget == rungs_[rung] || rung + 1 == rungs_.size()) return answers_[rung];
  return search(budget, 2000);
}

FateSearch::Answer FateSearch::search(std::int64_t bytes, std::int64_t judgements) {
  const auto n = static_cast<std::int64_t>(chain_.stages.size());
  left_ = std::clamp<std::int64_t>(80'000 / (n * n), 8, judgements);
  Answer best{{}, bytes, infinite};
  for (const Answer& below : answers_)
    if (below.bytes <= bytes && below.seconds < best.seconds) best = below;
  if (best.seconds < infinite) consider(Tape(best.tape), bytes, best);
  for (const Frontier& frontier : frontiers_) {
    const std::size_t point = frontier.within(bytes);
    if (point < frontier.points().size()) consider(frontier.tape(point), bytes, best);
  }
  for (const Fate fate : {Fate::keep, Fate::offload})
    descend(std::vector<Fate>(chain_.stages.size(), fate), bytes, best);
  round(bytes, best);
  left_ = std::clamp<std::int64_t>(80'000 / (n * n), 8, judgements);
  improve(bytes, best);
  return best;
}

/// Rounds the relaxation, with more copies or fewer: what is copied of the first stages is copied
/// beside the most computation, so the number of those whose copies are cheap is what is searched.
void FateSearch::round(std::int64_t bytes, Answer& best) {
  const FateBound bound = bound_of(chain_, bytes, Copies::overlapped, 40);
  if (std::isinf(bound.seconds)) return;
  for (const double factor : {1.2, 2.0})
    for (const double segment : {0.1, 0.3}) {
      const auto seconds = [&](std::int64_t early) {
        const Rounding rounding{static_cast<std::size_t>(early), factor, segment};
        const Tape tape = rounded_tape(chain_, bytes, bound.weights, rounding);
        return tape.empty() ? infinite : consider(tape, bytes, best);
      };
      std::int64_t low = 0, high = static_cast<std::int64_t>(chain_.stages.size());
      while (high - low > 2 + high / 64) {
        const std::int64_t third = (high - low) / 3;
        if (seconds(low + third) <= seconds(high - third))
          high -= third;
        else
          low += third;
      }
      for (const std::int64_t early : {low, (low + high) / 2, high}) seconds(early);
    }
}

double FateSearch::judge(const Tape& tape, std::int64_t bytes) {
  if (memory_of(chain_, tape).peak > bytes) return infinite;
  check_interrupt();
  const auto [found, fresh] = judged_.try_emplace({key_of(tape), bytes}, 0);
  if (fresh) {
    --left_;
    found->second = score_(tape, bytes);
  }
  return found->second;
}

/// Of equally fast tapes the shorter one: nothing is copied or recomputed for nothing.
double FateSearch::consider(const Tape& tape, std::int64_t bytes, Answer& best) {
  const double seconds = judge(tape, bytes);
  const bool same =
      best.seconds < infinite && std::abs(seconds - best.seconds) <= 1e-12 * best.seconds;
  if (same ? tape.size() < best.tape.size() : seconds < best.seconds) best = {tape, bytes, seconds};
  return seconds;
}

/// From fates by stage to better ones, by changing one or, in short chains, two at a time.
void FateSearch::descend(std::vector<Fate> fates, std::int64_t bytes, Answer& best) {
  Answer here{{}, bytes, infinite};
  consider(tape_of(chain_, fates), bytes, here);
  const std::size_t n = fates.size();
  for (bool better = true; better && left_ > 0;) {
    better = false;
    std::vector<Fate> next = fates;
    const auto take = [&](const std::vector<Fate>& changed) {
      const double seconds = judge(tape_of(chain_, changed), bytes);
      if (!(seconds < here.seconds * (1 - 1e-12))) return;
      here = {tape_of(chain_, changed), bytes, seconds};
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
      take(one);
      if (n <= 12)
        each_change(one, s + 1, [&](const std::vector<Fate>& two, std::size_t) { take(two); });
    });
    fates = next;
  }
  if (here.seconds < infinite) consider(Tape(here.tape), bytes, best);
}

void FateSearch::improve(std::int64_t bytes, Answer& best) {
  Choices choices = choices_of(chain_, best.tape);
  while (left_ > 0 && improve_once(bytes, choices, best)) {
  }
}

/// Takes the best of all changes of one choice, or, where none helps, of two; false: none does.
bool FateSearch::improve_once(std::int64_t bytes, Choices& choices, Answer& best) {
  const std::size_t n = chain_.stages.size();
  const std::size_t places = 2 * n + 1;  // inner tensors, then boundaries
  const auto at = [n](Choices& some, std::size_t place) -> Fate& {
    return place < n ? some.inner[place] : some.boundary[place - n];
  };
  const auto each_change = [&](const Choices& from, std::size_t begin, auto&& use) {
    for (std::size_t place = begin; place < places && left_ > 0; ++place)
      for (const Fate fate : {Fate::keep, Fate::offload, Fate::recompute}) {
        Choices changed = from;
        if (at(changed, place) == fate) continue;
        at(changed, place) = fate;
        mend(changed);
        if (!(changed == from)) use(changed, place);
      }
  };
  const double before = best.seconds;
  Choices next = choices;
  const auto take = [&](const Choices& changed) {
    const double seconds = judge(tape_of(chain_, changed), bytes);
    if (!(seconds < best.seconds * (1 - 1e-12))) return;
    best = {tape_of(chain_, changed), bytes, seconds};
    next = changed;
  };
  each_change(choices, 0, [&](const Choices& changed, std::size_t) { take(changed); });
  if (best.seconds == before && n <= 12)
    each_change(choices, 0, [&](const Choices& changed, std::size_t place) {
      each_change(changed, place + 1, [&](const Choices& twice, std::size_t) { take(twice); });
    });
  choices = next;
  return best.seconds < before;
}

}  // namespace sluice
