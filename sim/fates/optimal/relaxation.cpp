#include "fates/optimal/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fates/optimal/relaxation_whole.hpp"

namespace sluice {
namespace {

struct Cost {
  double value = 0;  ///< the seconds, plus the bytes times their price
  double bytes = 0;  ///< the bytes on the device at the turning point
  Cost operator+(const Cost& other) const { return {value + other.value, bytes + other.bytes}; }
  bool operator<(const Cost& other) const { return value < other.value; }
};

/// Row::solve() goes from stage to stage. A stage is in one of two states: it runs once, or it runs again. The best
/// path to a state has the cheapest choices for all earlier stages. From is the state of stage s - 1 on the best path
/// to a state of stage s. `once` means that stage s - 1 runs once. `needed` means that it runs once, and boundary s is
/// held or copied. `again` means that it runs again.
enum class From : std::uint8_t { once, needed, again };

/// The choices for stage s. `boundary_goes` and `inner_goes` say whether boundary s and the inner tensors are copied
/// instead of held. `runs` is the state of stage s - 1 on the best path to the state in which stage s runs again.
/// `idle` is the same for the state in which stage s runs only once.
struct Step {
  bool boundary_goes = false, inner_goes = false;
  From runs = From::needed, idle = From::once;
};

/// The choices for all stages, from the first to the last.
class Row {
 public:
  Row(const Chain& chain, const FateWeights& weights, const BoundaryReads& reads)
      : chain_(chain), weights_(weights), reads_(reads), n_(chain.stages.size()), steps_(n_) {
    for (std::size_t s = 0; s < n_; ++s)
      passes_s_ += weights.forward[s] * chain.stages[s].forward_s +
                   weights.backward[s] * chain.stages[s].backward_s;
  }

  /// Finds the choices with the least cost at this price of a byte, in seconds per byte.
  Cost solve(double price) {
    price_ = price;
    once_ = {passes_s_};
    again_ = {};
    again_.value = std::numeric_limits<double>::infinity();
    for (std::size_t s = 0; s + 1 < n_; ++s) pass(s);
    finish();
    all_ = all_ + turns();
    return all_;
  }

  /// Returns the choices that solve() found last. For this, follows the best path back from the last stage.
  Choices choices() const {
    Choices choices{std::vector<Fate>(n_, Fate::keep), std::vector<Fate>(n_ + 1, Fate::keep)};
    bool again = false;
    for (std::size_t s = n_; s-- > 0;) {
      const Step& step = steps_[s];
      if (again) choices.inner[s] = Fate::recompute;
      if (!again && s + 1 < n_ && step.inner_goes) choices.inner[s] = Fate::offload;
      const From from = again ? step.runs : step.idle;
      again = from == From::again;
      const bool last_reads_it = s + 1 == n_ && reads_.last;
      if (again && !last_reads_it) choices.boundary[s] = Fate::recompute;
      if (from == From::needed && step.boundary_goes) choices.boundary[s] = Fate::offload;
    }
    return choices;
  }

 private:
  /// Returns the lower of two costs: the price of the tensor's bytes, and the seconds of its copies. If the copies are
  /// cheaper, sets `goes` to true, and otherwise to false.
  Cost held(const ChainTensor& tensor, std::size_t stage, bool saved, bool& goes) const {
    const auto bytes = static_cast<double>(tensor.bytes);
    const Cost copied = {weights_.load[stage] * tensor.load_s +
                         (saved ? weights_.save[stage] * tensor.save_s : 0)};
    const Cost kept = {price_ * bytes, bytes};
    goes = copied < kept;
    return goes ? copied : kept;
  }

  /// Returns the cost of weights that take turns. The weights of a stage are on the device at the turning point, or
  /// they are loaded after it. The cost is that of the cheaper way.
  Cost turns() const {
    Cost all;
    bool is_last = true;
    for (std::size_t s = weights_.turn.size(); s-- > 0;) {
      const ChainTurn& turn = chain_.stages[s].turn;
      if (turn.bytes == 0 || std::exchange(is_last, false)) continue;
      const auto bytes = static_cast<double>(turn.bytes);
      all = all + std::min(Cost{weights_.turn[s] * turn.load_s, 0}, Cost{price_ * bytes, bytes});
    }
    return all;
  }

  /// Returns the cost of boundary s if stage s - 1 does not run again.
  Cost held_boundary(std::size_t s) {
    return held(chain_.boundary(s), s == 0 ? 0 : s - 1, s > 0, steps_[s].boundary_goes);
  }

  void pass(std::size_t s) {
    const ChainStage& stage = chain_.stages[s];
    Step& step = steps_[s];
    const Cost needed = once_ + held_boundary(s);  // the cost if boundary s is held or copied
    const bool read = reads_.later[s], read_again = read || reads_.follows[s];
    const Cost idle = read ? needed : once_, again = read_again ? needed : once_;
    const auto from = [&](const Cost& cost, bool held) {
      return again_ < cost ? From::again : held ? From::needed : From::once;
    };
    step.runs = from(again, read_again);
    step.idle = from(idle, read);
    const Cost runs = std::min(again, again_) + Cost{weights_.again * stage.forward_s, 0};
    once_ = std::min(idle, again_) + held(stage.inner, s, true, step.inner_goes);
    again_ = runs;
  }

  /// Ends the choices. The first backward pass is at the turning point. So the tensors that it reads
  /// are on the device in any case.
  void finish() {
    Step& step = steps_.back();
    step.idle = From::once;
    if (n_ > 1 && !reads_.last && reads_.later[n_ - 1]) {
      once_ = once_ + held_boundary(n_ - 1);
      step.idle = From::needed;
    }
    if (again_ < once_) step.idle = From::again;
    all_ = std::min(once_, again_);
  }

  const Chain& chain_;
  const FateWeights& weights_;
  const BoundaryReads& reads_;
  double price_ = 0;
  double passes_s_ = 0;  ///< the weighted seconds of a forward and a backward pass of each stage
  std::size_t n_;
  std::vector<Step> steps_;
  /// Before pass(s): the cost of one forward and one backward pass of each stage, plus the cost of the
  /// choices for the stages before s. `once_` holds if stage s - 1 runs once, and `again_` if it runs twice.
  /// `all_` is the cost of the best choices for all stages.
  Cost once_, again_, all_;
};

}  // namespace

FateWeights FateWeights::serial(std::size_t stages) {
  const std::vector<double> ones(stages, 1);
  return {ones, ones, ones, ones, 1, {}};
}

TurningPoint turning_point(const Chain& chain, std::int64_t budget) {
  const std::size_t n = chain.stages.size();
  const ChainStage& last = chain.stages.back();
  TurningPoint point{{std::vector<char>(n + 1, 0), std::vector<char>(n, 0)}};
  BoundaryReads& reads = point.reads;
  std::int64_t working = last.inner.bytes;
  if (last.reads_output) working += last.output.bytes;
  for (std::size_t s = 0; s < n; ++s) {
    if (chain.stages[s].reads_output) reads.later[s + 1] = 1;
    chain.each_read(s, [&](std::size_t b, bool backward) {
      if (backward) reads.later[b] = 1;
      if (b == s) reads.follows[s] = 1;
      if (s + 1 < n) return;
      if (b > 0) working += chain.stages[b - 1].gradient;
      if (b == s) reads.last = backward;
    });
  }
  if (reads.last) working += chain.boundary(n - 1).bytes;
  point.room = static_cast<double>(budget - last.backward_workspace - working / chain.side_by_side);
  return point;
}

FateRelaxation::FateRelaxation(const Chain& chain, std::int64_t budget)
    : chain_(chain), n_(chain.stages.size()) {
  TurningPoint point = turning_point(chain, budget);
  reads_ = std::move(point.reads);
  room_ = point.room;
  double forward = 0;
  for (const ChainStage& stage : chain.stages) forward += stage.forward_s;
  for (const ChainStage& stage : chain.stages) forward += stage.turn.load_s;
  const auto consider = [&](std::int64_t bytes) {
    if (bytes > 0) steepest_ = std::max(steepest_, forward / static_cast<double>(bytes));
  };
  for (std::size_t b = 0; b <= n_; ++b) consider(chain.boundary(b).bytes);
  for (const ChainStage& stage : chain.stages) {
    consider(stage.inner.bytes);
    consider(stage.turn.bytes);
  }
}

FateRelaxation::Solution FateRelaxation::at(const FateWeights& weights, double price) const {
  Row row(chain_, weights, reads_);
  const Cost all = row.solve(price);
  return {all.value - price * room_, all.bytes - room_, row.choices()};
}

double FateRelaxation::BestBound::share() const {
  const double between = more.bytes - less.bytes;
  return between > 0 ? std::clamp(more.bytes / between, 0.0, 1.0) : 1;
}

// Finds the price per byte at which `value`, the lower bound on the seconds (FateRelaxation::Solution), is greatest.
// As a function of the price, the value is the minimum of straight lines.
// Each line stands for one choice of all fates. The slope of the line is the number of kept bytes minus the number of
// available bytes. Two lines, `more` and `less`, meet in a point. If no other line lies below this point, the point is
// the maximum. If a third line lies below the point, the third line replaces one of the two lines. If its choice keeps
// more bytes than are available, it replaces `more`. Otherwise it replaces `less`. Then the search goes on with the new
// pair of lines.
FateRelaxation::BestBound FateRelaxation::best(const FateWeights& weights) const {
  struct Line {
    double price, value, bytes;
    double at_zero() const { return value - price * bytes; }
  };
  Row row(chain_, weights, reads_);
  const auto line_at = [&](double price) {
    const Cost all = row.solve(price);
    return Line{price, all.value - price * room_, all.bytes - room_};
  };
  Line more = line_at(0), less = more;
  BestBound best;
  best.value = more.value;
  if (more.bytes > 0) {
    less = line_at(2 * steepest_);
    best.value = std::max(more.value, less.value);
    for (int i = 0; i < 100 && less.bytes < more.bytes; ++i) {
      const double price = (less.at_zero() - more.at_zero()) / (more.bytes - less.bytes);
      const double meet = more.at_zero() + price * more.bytes;
      const Line now = line_at(price);
      best.value = std::max(best.value, now.value);
      if (now.value >= meet - 1e-12 * std::abs(meet)) break;
      (now.bytes > 0 ? more : less) = now;
    }
  }
  const auto solution_at = [&](double price) {
    const Line line = line_at(price);
    return Solution{line.value, line.bytes, row.choices()};
  };
  best.price = less.price;
  best.less = solution_at(less.price);
  best.more = more.price == less.price ? best.less : solution_at(more.price);
  return best;
}

}  // namespace sluice
