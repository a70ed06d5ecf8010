#include "placement/overlap.hpp"

#include <algorithm>
#include <tuple>

#include "base/interrupt.hpp"

namespace sluice {
namespace {

class Overlapper {
 public:
  Overlapper(const PlacementQuestion& question, std::int64_t capacity, Placing placing)
      : question_(question),
        capacity_(capacity),
        schedule_(synchronous_schedule(question, std::move(placing))),
        kernel_s_(kernel_seconds(question, schedule_.placing)),
        bytes_(fast_bytes(question, schedule_.placing)),
        free_(kernel_s_) {}

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
  /// Returns the kernels during which the copy engine may make this move: the kernels between the use before the move
  /// and the use after it. If the tensor is both saved and fetched between these uses, the save may be made only before
  /// the fetch begins, and the fetch only after the save has ended.
  KernelRange between(const PlacementMove& move) const {
    const TensorUses& uses = question_.uses(move.tensor);
    const std::size_t i = move.use;
    KernelRange range;
    if (move.to_fast)
      range = {i > 0 ? uses.kernels[i - 1] + 1 : 0, uses.kernels[i]};
    else
      range = {move.begin, i > 0 ? uses.kernels[i] : question_.kernel_count()};
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

  struct Window {
    PlacementMove move;
    std::vector<std::pair<std::uint32_t, double>> taken;  ///< pairs of a kernel and engine seconds
  };

  /// Returns the kernels during which the engine makes the move, and how many of the engine's seconds the move takes
  /// during each kernel. Goes from the kernel closest to the use to kernels farther away. Stops when the kernels cover
  /// the whole move, or when fast memory has no room for the tensor.
  Window window_of(PlacementMove move) const {
    const KernelRange range = between(move);
    const std::int64_t bytes = question_.tensor(move.tensor).bytes;
    PlacementMove beside = move;
    // If `needed` is a later kernel than `begin`, the copy engine makes the move: move_seconds() uses its rate.
    beside.needed = beside.begin + 1;
    double left = move_seconds(question_, beside);
    Window window;
    const std::uint32_t count = range.last > range.first ? range.last - range.first : 0;
    std::uint32_t kernels = 0;
    for (; kernels < count && left > 0; ++kernels) {
      const std::uint32_t k = move.to_fast ? range.last - 1 - kernels : range.first + kernels;
      if (bytes_[k] + bytes > capacity_) break;
      const double part = std::min(left, free_[k]);
      window.taken.emplace_back(k, part);
      left -= part;
    }
    if (move.to_fast)
      move.begin = move.needed - kernels;
    else
      move.needed = move.begin + kernels;
    window.move = move;
    return window;
  }

  void try_beside(const PlacementMove& move) {
    const auto at =
        std::find_if(schedule_.moves.begin(), schedule_.moves.end(), [&](const PlacementMove& m) {
          return m.tensor == move.tensor && m.use == move.use && m.to_fast == move.to_fast;
        });
    if (!at->synchronous()) return;
    const Window window = window_of(*at);
    if (window.move.synchronous()) return;
    std::vector<PlacementMove> moves = schedule_.moves;
    moves[static_cast<std::size_t>(at - schedule_.moves.begin())] = window.move;
    // Among the moves before one kernel, synchronous moves to slow memory come first, because they make room. Then come
    // synchronous moves to fast memory. Then come the copy engine's moves, in the order in which kernels need them.
    const auto rank = [](const PlacementMove& m) {
      return std::tuple(m.begin, !m.synchronous(),
                        m.synchronous() ? std::uint32_t{m.to_fast} : m.needed);
    };
    std::stable_sort(moves.begin(), moves.end(),
                     [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    const double seconds = predicted_seconds(question_, kernel_s_, moves);
    if (!(seconds < seconds_)) return;
    seconds_ = seconds;
    schedule_.moves = std::move(moves);
    for (const auto& [k, part] : window.taken) {
      free_[k] -= part;
      bytes_[k] += question_.tensor(move.tensor).bytes;
    }
  }

  const PlacementQuestion& question_;
  std::int64_t capacity_;
  PlacementSchedule schedule_;
  std::vector<double> kernel_s_;
  std::vector<std::int64_t> bytes_;  ///< the bytes in fast memory, indexed by kernel
  std::vector<double> free_;         ///< the free seconds of the copy engine, indexed by kernel
  double seconds_ = 0;
};

}  // namespace

PlacementSchedule overlapped(const PlacementQuestion& question, std::int64_t capacity,
                             Placing placing) {
  if (!question.problem().asynchronous) return synchronous_schedule(question, std::move(placing));
  return Overlapper(question, capacity, std::move(placing)).run();
}

}  // namespace sluice
