#include "placement/overlap.hpp"

#include <algorithm>
#include <tuple>

#include "base/interrupt.hpp"

namespace sluice {
namespace {

/// The share of a kernel's seconds below which errors of rounding may lie.
constexpr double small = 1e-9;

class Overlapper {
 public:
  Overlapper(const PlacementQuestion& question, std::int64_t capacity, Placing placing,
             bool in_one_piece)
      : question_(question),
        capacity_(capacity),
        schedule_(synchronous_schedule(question, std::move(placing))),
        kernel_s_(kernel_seconds(question, schedule_.placing)),
        bytes_(fast_bytes(question, schedule_.placing)),
        taken_(kernel_s_.size(), 0),
        in_one_piece_(in_one_piece) {}

  PlacementSchedule run() {
    seconds_ = predicted_seconds(question_, kernel_s_, schedule_.moves);
    // Tries to give moves to the copy engine. The longest move comes first, because it can save the most seconds and
    // needs the most room.
    std::vector<PlacementMove> left = schedule_.moves;
    std::stable_sort(left.begin(), left.end(), [&](const auto& a, const auto& b) {
      return move_seconds(question_, a) > move_seconds(question_, b);
    });
    for (int pass = 0; pass < 2; ++pass)
      for (const PlacementMove& move : left) {
        check_interrupt();
        try_beside(move);
      }
    return std::move(schedule_);
  }

 private:
  /// Returns the kernels during which the copy engine may make this move. If the tensor is both saved and fetched in a
  /// gap, the save may be made only before the fetch begins, and the fetch only after the save has ended.
  KernelRange between(const PlacementMove& move) const {
    const std::size_t i = move.use;
    KernelRange range = window_range(question_, move);
    for (const PlacementMove& other :
         schedule_.moves) {  // in one gap, the save ends before the fetch begins
      if (other.tensor != move.tensor || other.use != i || other.to_fast == move.to_fast) continue;
      // For use 0, the save is after the last use of the run, and the fetch is before the first use. So no kernel
      // is in the ranges of both.
      if (i == 0) continue;
      if (move.to_fast)
        range.first = std::max(range.first, other.needed);
      else
        range.last = std::min(range.last, other.begin);
    }
    return range;
  }

  void try_beside(const PlacementMove& move) {
    const auto at =
        std::find_if(schedule_.moves.begin(), schedule_.moves.end(), [&](const PlacementMove& m) {
          return m.tensor == move.tensor && m.use == move.use && m.to_fast == move.to_fast;
        });
    if (!at->synchronous()) return;
    const EngineWindow window = engine_window(
        question_, *at, between(*at), {capacity_, bytes_, kernel_s_, taken_, in_one_piece_});
    if (window.move.synchronous()) return;
    std::vector<PlacementMove> moves = schedule_.moves;
    moves[static_cast<std::size_t>(at - schedule_.moves.begin())] = window.move;
    order_moves(moves);
    const double seconds = predicted_seconds(question_, kernel_s_, moves);
    if (!(seconds < seconds_)) return;
    seconds_ = seconds;
    schedule_.moves = std::move(moves);
    for (const auto& [k, part] : window.taken) taken_[k] += part;
    for (std::uint32_t k = window.held.first; k < window.held.last; ++k)
      bytes_[k] += question_.tensor(move.tensor).bytes;
  }

  const PlacementQuestion& question_;
  std::int64_t capacity_;
  PlacementSchedule schedule_;
  std::vector<double> kernel_s_;
  std::vector<std::int64_t> bytes_;  ///< the bytes in fast memory, indexed by kernel
  std::vector<double> taken_;  ///< the seconds for which the copy engine works, indexed by kernel
  bool in_one_piece_;
  double seconds_ = 0;
};

}  // namespace

KernelRange window_range(const PlacementQuestion& question, const PlacementMove& move) {
  const std::vector<std::uint32_t>& kernels = question.uses(move.tensor).kernels;
  const std::size_t i = move.use;
  if (move.to_fast) return {i > 0 ? kernels[i - 1] + 1 : 0, kernels[i]};
  return {(i > 0 ? kernels[i - 1] : kernels.back()) + 1,
          i > 0 ? kernels[i] : question.kernel_count()};
}

EngineWindow engine_window(const PlacementQuestion& question, PlacementMove move, KernelRange range,
                           const EngineRoom& room) {
  const std::int64_t bytes = question.tensor(move.tensor).bytes;
  PlacementMove beside = move;
  // If `needed` is a later kernel than `begin`, the copy engine makes the move: move_seconds() uses its rate.
  beside.needed = beside.begin + 1;
  const double whole_s = move_seconds(question, beside);
  EngineWindow window{.move = move, .left_s = whole_s};
  bool waits = false;  // whether other moves lie between the use and this move
  std::uint32_t kernels = 0;
  const std::uint32_t count = range.last > range.first ? range.last - range.first : 0;
  for (; kernels < count && window.left_s > 0; ++kernels) {
    const std::uint32_t k = move.to_fast ? range.last - 1 - kernels : range.first + kernels;
    if (room.bytes[k] + bytes > room.capacity) break;
    const double free_s = std::max(0.0, room.kernel_s[k] - room.taken_s[k]);
    if (room.in_one_piece && room.taken_s[k] > small * room.kernel_s[k] && free_s < window.left_s) {
      // The engine is making another move, so this move cannot go on without a break.
      waits = true;
      window.taken.clear();
      window.left_s = whole_s;
    }
    const double part = std::min(free_s, window.left_s);
    if (part > 0) window.taken.emplace_back(k, part);
    window.left_s -= part;
  }
  if (window.left_s > 0 && (waits || kernels == 0)) return {.move = move, .left_s = whole_s};
  if (move.to_fast) {
    window.move.begin = range.last - kernels;
    window.held = {window.move.begin, range.last};
  } else {
    window.held = {range.first, range.first + kernels};
    window.move.needed = window.held.last;
    if (room.in_one_piece && !window.taken.empty()) window.move.begin = window.taken.front().first;
  }
  return window;
}

void order_moves(std::vector<PlacementMove>& moves) {
  const auto rank = [](const PlacementMove& m) {
    return std::tuple(m.begin, !m.synchronous(),
                      m.synchronous() ? std::uint32_t{m.to_fast} : m.needed);
  };
  std::stable_sort(moves.begin(), moves.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

PlacementSchedule overlapped(const PlacementQuestion& question, std::int64_t capacity,
                             Placing placing) {
  if (!question.problem().asynchronous) return synchronous_schedule(question, std::move(placing));
  // Without breaks, moves do not delay each other, but a short window may have no time for a whole move.
  PlacementSchedule broken = Overlapper(question, capacity, placing, /*in_one_piece=*/false).run();
  PlacementSchedule whole =
      Overlapper(question, capacity, std::move(placing), /*in_one_piece=*/true).run();
  return predicted_seconds(question, whole) < predicted_seconds(question, broken) ? whole : broken;
}

}  // namespace sluice
