#include "placement/improve.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/interrupt.hpp"
#include "base/never.hpp"

namespace sluice {
namespace {

using Pinned = PlacementProblem::Pinned;

std::vector<double> sums_of(const std::vector<double>& prices, std::uint32_t kernels) {
  std::vector<double> sums(kernels + 1, 0);
  for (std::uint32_t k = 0; k < kernels && !prices.empty(); ++k) sums[k + 1] = sums[k] + prices[k];
  return sums;
}

/// Random numbers by SplitMix64 (Steele et al. 2014): the same numbers on all machines.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : state_(seed) {}

  std::uint64_t below(std::uint64_t bound) {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % bound;
  }

 private:
  std::uint64_t state_;
};

/// Returns the tensors in the order of their worth, the greatest worth first. The worth of a tensor
/// is the seconds that it saves in fast memory, divided by the price of its bytes.
std::vector<std::uint32_t> by_worth(const ImproveRequest& request,
                                    const std::vector<double>& prices) {
  const PlacementQuestion& question = request.question;
  PlacementDraft draft(request, all_slow(question));
  const double slow = draft.seconds();
  const std::vector<double> sums = sums_of(prices, question.kernel_count());
  std::vector<double> worth(question.tensor_count());
  for (std::uint32_t t = 0; t < question.tensor_count(); ++t) {
    draft.put_in(t, {});
    const double saved = slow - draft.seconds();
    draft.take_out(t);
    const KernelRange live = question.live(t);
    const double cost =
        static_cast<double>(question.tensor(t).bytes) * (sums[live.last] - sums[live.first]);
    worth[t] = saved / (cost + 1e-12 * slow + 1e-300);
  }
  std::vector<std::uint32_t> order(question.tensor_count());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return worth[a] > worth[b]; });
  return order;
}

}  // namespace

PlacementDraft::PlacementDraft(const ImproveRequest& request, Placing placing)
    : request_(request),
      question_(request.question),
      placing_(std::move(placing)),
      bytes_(fast_bytes(question_, placing_)),
      slow_(slow_operands(question_, placing_)),
      moves_(question_.tensor_count()) {
  for (std::uint32_t k = 0; k < question_.kernel_count(); ++k) {
    kernel_s_.push_back(request_.weights.kernels *
                        question_.problem().kernels[k].time.at(slow_[k]));
    seconds_ += kernel_s_.back();
  }
  taken_s_.assign(kernel_s_.size(), 0);
  for (std::uint32_t t = 0; t < question_.tensor_count(); ++t) add_moves(t);
}

PlacementDraft::PlacementDraft(const ImproveRequest& request, const PlacementSchedule& schedule)
    : PlacementDraft(request, schedule.placing) {
  for (std::uint32_t t = 0; t < question_.tensor_count(); ++t) remove_moves(t);
  for (const PlacementMove& move : schedule.moves) {
    EngineWindow window{move};
    if (!move.synchronous()) {
      window.held = {move.to_fast ? move.begin : save_in(question_, move.tensor, move.use).begin,
                     move.needed};
      window.left_s = move_seconds(question_, move);
      for (std::uint32_t k = move.begin; k < move.needed && window.left_s > 0; ++k) {
        const double part = std::clamp(kernel_s_[k] - taken_s_[k], 0.0, window.left_s);
        window.taken.emplace_back(k, part);
        window.left_s -= part;
      }
    }
    add(move.tensor, std::move(window));
  }
}

PlacementSchedule PlacementDraft::schedule() const {
  PlacementSchedule schedule{placing_, {}};
  for (const std::vector<EngineWindow>& windows : moves_)
    for (const EngineWindow& window : windows) schedule.moves.push_back(window.move);
  order_moves(schedule.moves);
  return schedule;
}

/// Returns the move as the copy engine makes it during kernels in `range`. Returns a synchronous move if it is cheaper.
EngineWindow PlacementDraft::planned(const PlacementMove& move, KernelRange range) const {
  EngineWindow window =
      engine_window(question_, move, range, {request_.capacity, bytes_, kernel_s_, taken_s_});
  EngineWindow in_turn{move};
  return price_of(window) < price_of(in_turn) ? window : in_turn;
}

double PlacementDraft::price_of(const EngineWindow& window) const {
  const double seconds = move_seconds(question_, window.move);
  if (!window.move.synchronous()) return *request_.engine * seconds + window.left_s;
  return seconds * (window.move.to_fast ? request_.weights.fetch : request_.weights.save);
}

/// Adds a move of a tensor. If `sign` is -1, only subtracts what the move takes.
void PlacementDraft::add(std::uint32_t t, EngineWindow window, int sign) {
  seconds_ += sign * price_of(window);
  for (const auto& [k, taken_s] : window.taken) taken_s_[k] += sign * taken_s;
  for (std::uint32_t k = window.held.first; k < window.held.last; ++k)
    bytes_[k] += sign * question_.tensor(t).bytes;
  if (sign > 0) moves_[t].push_back(std::move(window));
}

void PlacementDraft::add_moves(std::uint32_t t) {
  if (!request_.engine) {
    seconds_ += path_seconds(t, placing_[t]);
    return;
  }
  for (const PlacementMove& move : moves_of(question_, t, placing_[t])) {
    KernelRange range = window_range(question_, move);
    // In one gap, the save ends before the fetch begins. The fetches of a tensor come before its saves.
    for (const EngineWindow& fetch : moves_[t])
      if (!move.to_fast && fetch.move.to_fast && fetch.move.use == move.use && move.use > 0)
        range.last = std::min(range.last, fetch.move.begin);
    add(t, planned(move, range));
  }
}

void PlacementDraft::remove_moves(std::uint32_t t) {
  for (EngineWindow& window : std::exchange(moves_[t], {})) add(t, std::move(window), -1);
}

void PlacementDraft::put_back(std::uint32_t t, OfTensor before) {
  if (!request_.engine) {
    set(t, std::move(before.path));
    return;
  }
  remove_moves(t);
  set_path(t, std::move(before.path));
  for (EngineWindow& window : before.moves) add(t, std::move(window));
}

double PlacementDraft::path_seconds(std::uint32_t t, const TensorPath& path) const {
  const PathMoves moves = moves_of_path(question_, t, path);
  return request_.weights.fetch * static_cast<double>(moves.fetches) * question_.fetch_s(t) +
         request_.weights.save * static_cast<double>(moves.saves) * question_.save_s(t);
}

void PlacementDraft::take_out(std::uint32_t t) {
  set(t, constant_path(question_, t, question_.tensor(t).pinned == Pinned::fast));
}

void PlacementDraft::set(std::uint32_t t, TensorPath path) {
  if (path == placing_[t]) return;
  if (!request_.engine) {
    seconds_ += path_seconds(t, path) - path_seconds(t, placing_[t]);
    set_path(t, std::move(path));
    return;
  }
  remove_moves(t);
  set_path(t, std::move(path));
  add_moves(t);
}

/// Changes the path of a tensor. Its moves must have been removed.
void PlacementDraft::set_path(std::uint32_t t, TensorPath path) {
  const TensorUses& uses = question_.uses(t);
  const std::int64_t bytes = question_.tensor(t).bytes;
  const auto change = [&](KernelRange range, std::int64_t by) {
    for (std::uint32_t k = range.first; k < range.last; ++k) bytes_[k] += by;
  };
  for (std::size_t i = 0; i < uses.count(); ++i) {
    const std::uint32_t k = uses.kernels[i];
    if (path.gap[i] != placing_[t].gap[i]) {
      const std::int64_t by = path.gap[i] ? bytes : -bytes;
      change(question_.gap(t, i), by);
      if (i == 0) change(question_.behind(t), by);
    }
    if (path.use[i] == placing_[t].use[i]) continue;
    bytes_[k] += path.use[i] ? bytes : -bytes;
    slow_[k][uses.operands[i]] = path.use[i] ? 0 : 1;
    const double now = request_.weights.kernels * question_.problem().kernels[k].time.at(slow_[k]);
    seconds_ += now - kernel_s_[k];
    kernel_s_[k] = now;
  }
  placing_[t] = std::move(path);
}

bool PlacementDraft::room(KernelRange range, std::int64_t bytes) const {
  for (std::uint32_t k = range.first; k < range.last; ++k)
    if (bytes_[k] + bytes > request_.capacity) return false;
  return true;
}

bool PlacementDraft::has_room_for(std::uint32_t t, const TensorPath& path) const {
  const TensorUses& uses = question_.uses(t);
  const std::int64_t bytes = question_.tensor(t).bytes;
  for (std::size_t i = 0; i < uses.count(); ++i) {
    if (path.use[i] && !room({uses.kernels[i], uses.kernels[i] + 1}, bytes)) return false;
    if (path.gap[i] && !room(question_.gap(t, i), bytes)) return false;
  }
  return !path.gap[0] || room(question_.behind(t), bytes);
}

PathPrices PlacementDraft::prices_of(std::uint32_t t, const std::vector<double>& sums) const {
  const TensorUses& uses = question_.uses(t);
  const std::int64_t bytes = question_.tensor(t).bytes;
  const auto size = static_cast<double>(bytes);
  PathPrices prices{.begins = question_.tensor(t).begins,
                    .from_slow = question_.tensor(t).moves == PlacementProblem::Moves::from_slow,
                    .written = &uses.written};
  const auto held = [&](KernelRange range) {
    return room(range, bytes) ? size * (sums[range.last] - sums[range.first]) : never;
  };
  for (std::size_t i = 0; i < uses.count(); ++i) {
    const std::uint32_t k = uses.kernels[i];
    std::vector<char> slow = slow_[k];
    slow[uses.operands[i]] = 0;
    const KernelTime& time = question_.problem().kernels[k].time;
    const double fast_s = request_.weights.kernels * time.at(slow);
    slow[uses.operands[i]] = 1;
    prices.slow.push_back(request_.weights.kernels * time.at(slow) - fast_s);
    prices.fast.push_back(held({k, k + 1}));
    double hold = held(question_.gap(t, i));
    if (i == 0) hold += held(question_.behind(t));
    prices.hold.push_back(hold);
  }
  prices.fetch.assign(uses.count(), request_.weights.fetch * question_.fetch_s(t));
  prices.save.assign(uses.count(), request_.weights.save * question_.save_s(t));
  if (!request_.engine) return prices;
  for (std::size_t i = 0; i < uses.count(); ++i) {
    if (!question_.has_gap(t, i)) continue;
    const PlacementMove fetch = fetch_before(question_, t, i), save = save_in(question_, t, i);
    const EngineWindow fetched = planned(fetch, window_range(question_, fetch));
    prices.fetch[i] = price_of(fetched);
    KernelRange range = window_range(question_, save);
    if (i > 0) range.last = fetched.move.begin;
    prices.save[i] = price_of(planned(save, range));
  }
  return prices;
}

void PlacementDraft::put_in(std::uint32_t t, const std::vector<double>& prices) {
  if (question_.tensor(t).pinned != Pinned::no) return;
  take_out(t);
  PricedPath found = best_path_of(question_, t, request_.moves,
                                  prices_of(t, sums_of(prices, question_.kernel_count())));
  set(t, std::move(found.path));
}

namespace {

/// Puts tensors into fast memory. All tensors of the draft must be in slow memory.
void fill(PlacementDraft& draft, const ImproveRequest& request, const std::vector<double>& prices,
          const std::vector<std::optional<TensorPath>>& begin) {
  const std::vector<std::uint32_t> order = by_worth(request, prices);
  std::vector<std::uint32_t> left;
  for (const std::uint32_t t : order) {
    const bool set = !begin.empty() && begin[t] && draft.has_room_for(t, *begin[t]);
    if (set && request.question.tensor(t).pinned == Pinned::no)
      draft.set(t, *begin[t]);
    else
      left.push_back(t);
  }
  for (const std::uint32_t t : left) draft.put_in(t, prices);
  for (int pass = 0; pass < 3; ++pass) {
    const double before = draft.seconds();
    for (const std::uint32_t t : order) draft.put_in(t, {});
    if (!(draft.seconds() < before)) break;
  }
}

/// Searches for a faster placement in `tries` tries.
void search(PlacementDraft& draft, const ImproveRequest& request, const std::vector<double>& prices,
            std::size_t tries, double bound) {
  const PlacementQuestion& question = request.question;
  std::vector<std::vector<std::uint32_t>> live(question.kernel_count());
  for (std::uint32_t t = 0; t < question.tensor_count(); ++t)
    for (std::uint32_t k = question.live(t).first; k < question.live(t).last; ++k)
      if (question.tensor(t).pinned == Pinned::no) live[k].push_back(t);
  std::vector<double> half = prices;
  for (double& price : half) price /= 2;
  const std::vector<double> nothing;
  RandomNumbers random(request.seed);
  for (std::size_t n = 0; n < tries && draft.seconds() > bound * (1 + 1e-12); ++n) {
    check_interrupt();
    std::vector<std::uint32_t> out = live[random.below(live.size())];
    if (out.empty()) continue;
    for (std::size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[random.below(i)]);
    out.resize(std::min<std::size_t>(out.size(), 2 + random.below(9)));
    const double before = draft.seconds();
    std::vector<PlacementDraft::OfTensor> old;
    for (const std::uint32_t t : out) {
      old.push_back(draft.of_tensor(t));
      draft.take_out(t);
    }
    const std::uint64_t kind = random.below(3);
    const std::vector<double>& at = kind == 0 ? prices : kind == 1 ? half : nothing;
    for (const std::uint32_t t : out) draft.put_in(t, at);
    if (kind < 2)
      for (const std::uint32_t t : out) draft.put_in(t, nothing);
    if (draft.seconds() <= before) continue;
    for (std::size_t i = 0; i < out.size(); ++i) draft.take_out(out[i]);
    for (std::size_t i = 0; i < out.size(); ++i) draft.put_back(out[i], std::move(old[i]));
  }
}

}  // namespace

Placing placing_from(const ImproveRequest& request, const std::vector<double>& prices,
                     const std::vector<std::optional<TensorPath>>& begin) {
  PlacementDraft draft(request, all_slow(request.question));
  fill(draft, request, prices, begin);
  return draft.placing();
}

Placing filled_up(const ImproveRequest& request, Placing placing) {
  const PlacementQuestion& question = request.question;
  const auto loaded = [&](std::uint32_t t) {
    return question.tensor(t).tensor_class == TensorClass::weight ||
           question.tensor(t).begins == PlacementProblem::Begins::given;
  };
  std::vector<std::uint32_t> slow;
  for (std::uint32_t t = 0; t < question.tensor_count(); ++t)
    if (question.tensor(t).pinned == Pinned::no &&
        placing[t] == constant_path(question, t, /*fast=*/false))
      slow.push_back(t);
  std::stable_sort(slow.begin(), slow.end(), [&](std::uint32_t a, std::uint32_t b) {
    return loaded(a) != loaded(b) ? loaded(a) : question.tensor(a).bytes > question.tensor(b).bytes;
  });
  PlacementDraft draft(request, std::move(placing));
  for (const std::uint32_t t : slow) {
    const TensorPath fast = constant_path(question, t, /*fast=*/true);
    if (!draft.has_room_for(t, fast)) continue;
    const double before = draft.seconds();
    draft.set(t, fast);
    if (draft.seconds() > before) draft.take_out(t);
  }
  return draft.placing();
}

Placing improved(const ImproveRequest& request, Placing placing, const std::vector<double>& prices,
                 std::size_t tries, double bound) {
  PlacementDraft draft(request, std::move(placing));
  search(draft, request, prices, tries, bound);
  return draft.placing();
}

PlacementSchedule improved_schedule(const ImproveRequest& request, const PlacementSchedule& known,
                                    const std::vector<double>& prices, std::size_t tries) {
  PlacementDraft draft(request, all_slow(request.question));
  fill(draft, request, prices, {});
  PlacementDraft other(request, known);
  PlacementDraft& best = other.seconds() < draft.seconds() ? other : draft;
  search(best, request, prices, tries, 0);
  return best.schedule();
}

}  // namespace sluice
