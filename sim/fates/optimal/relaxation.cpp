#include "fates/optimal/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fates/optimal/priced_choices.hpp"
#include "fates/optimal/relaxation_stages.hpp"
#include "fates/optimal/relaxation_whole.hpp"

namespace sluice {
namespace {

/// Costs at a price of a byte.
struct PricedCosts {
  struct Value {
    double value = 0;  ///< the seconds, plus the bytes times their price
    double bytes = 0;  ///< the bytes on the device at the turning point
    Value operator+(const Value& other) const { return {value + other.value, bytes + other.bytes}; }
    bool operator<(const Value& other) const { return value < other.value; }
  };

  double price = 0;  ///< in seconds per byte

  Value either(const Value& a, const Value& b) const { return std::min(a, b); }
  Value more(const Value& cost, double seconds) const { return cost + Value{seconds, 0}; }
  bool goes(double bytes, double copies_s) const { return copies_s < price * bytes; }
  Value held(const Value& cost, double bytes, double copies_s) const {
    return cost + (goes(bytes, copies_s) ? Value{copies_s, 0} : Value{price * bytes, bytes});
  }
};

using Cost = PricedCosts::Value;

/// The choices for all stages, from the first to the last.
class Row {
 public:
  Row(const Chain& chain, const FateWeights& weights, const BoundaryReads& reads)
      : chain_(chain),
        weights_(weights),
        reads_(reads),
        n_(chain.stages.size()),
        stages_(chain, weights, reads, costs_) {}
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;

  /// The choices with the least cost at a price of a byte, in seconds per byte.
  struct Solved {
    double price = 0;
    Cost cost;
    std::vector<RelaxedStages<PricedCosts>::Before> before;  ///< indexed by stage
  };

  /// Finds the choices with the least cost at this price. The memory of `solved` is used again.
  void solve(double price, Solved& solved) {
    costs_.price = solved.price = price;
    std::vector<RelaxedStages<PricedCosts>::Before>& before = solved.before;
    before.resize(n_);
    before[0] = {{stages_.always_s(), 0}, {std::numeric_limits<double>::infinity(), 0}};
    for (std::size_t s = 0; s + 1 < n_; ++s) before[s + 1] = stages_.after(before[s], s);
    solved.cost = stages_.end(before.back()) + turns();
  }

  /// Returns the choices that solve() has found. For this, goes back from the last stage.
  Choices choices(const Solved& solved) {
    costs_.price = solved.price;
    Choices choices{std::vector<Fate>(n_, Fate::keep), std::vector<Fate>(n_ + 1, Fate::keep)};
    bool again = false;  // whether stage s runs again
    for (std::size_t s = n_; s-- > 0;) {
      const auto& stage = stages_.stage(s);
      const auto goes = [&](const auto& tensor) {
        return costs_.goes(tensor.bytes, tensor.copies_s);
      };
      if (again) choices.inner[s] = Fate::recompute;
      if (!again && s + 1 < n_ && goes(stage.inner)) choices.inner[s] = Fate::offload;
      const auto [needed, elsewhere] = stage.needs[again];
      again = stages_.runs_before(solved.before[s], s, again);
      const bool last_reads_it = s + 1 == n_ && reads_.last;
      if (again && !last_reads_it && !elsewhere) choices.boundary[s] = Fate::recompute;
      if ((!again || elsewhere) && needed && goes(stage.boundary))
        choices.boundary[s] = Fate::offload;
    }
    return choices;
  }

 private:
  /// Returns the cost of weights that take turns. The weights of a stage are on the device at the turning point, or
  /// they are loaded after it. The cost is that of the cheaper way.
  Cost turns() const {
    Cost all;
    bool is_last = true;
    for (std::size_t s = weights_.turn.size(); s-- > 0;) {
      const ChainTurn& turn = chain_.stages[s].turn;
      if (turn.bytes == 0 || std::exchange(is_last, false)) continue;
      const auto bytes = static_cast<double>(turn.bytes);
      all = all +
            std::min(Cost{weights_.turn[s] * turn.load_s, 0}, Cost{costs_.price * bytes, bytes});
    }
    return all;
  }

  const Chain& chain_;
  const FateWeights& weights_;
  const BoundaryReads& reads_;
  std::size_t n_;
  PricedCosts costs_;
  RelaxedStages<PricedCosts> stages_;
};

}  // namespace

FateWeights FateWeights::serial(std::size_t stages) {
  const std::vector<double> ones(stages, 1);
  return {ones, ones, ones, ones, 1, {}};
}

TurningPoint turning_point(const Chain& chain, std::int64_t budget) {
  const std::size_t n = chain.stages.size();
  const ChainStage& last = chain.stages.back();
  const std::vector<char> none(n + 1, 0);
  TurningPoint point{{.later = none, .follows = none, .elsewhere = none}};
  BoundaryReads& reads = point.reads;
  std::int64_t working = last.inner.bytes;
  if (last.reads_output) working += last.output.bytes;
  for (std::size_t s = 0; s < n; ++s) {
    if (chain.stages[s].reads_output) reads.later[s + 1] = 1;
    chain.each_read(s, [&](std::size_t b, bool backward) {
      if (backward) reads.later[b] = 1;
      if (backward && b > 0 && chain.device(s) != chain.device(b - 1)) reads.elsewhere[b] = 1;
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
  const auto consider = [&](std::int64_t bytes, double load_s = 0) {
    if (bytes > 0) steepest_ = std::max(steepest_, (forward + load_s) / static_cast<double>(bytes));
  };
  // With several devices, a boundary may be loaded in addition to what runs again.
  for (std::size_t b = 0; b <= n_; ++b)
    consider(chain.boundary(b).bytes, chain.devices > 1 ? chain.boundary(b).load_s : 0);
  for (const ChainStage& stage : chain.stages) {
    consider(stage.inner.bytes);
    consider(stage.turn.bytes);
  }
}

struct PricedChoices::Parts {
  Parts(const Chain& chain, const FateWeights& weights)
      : reads(turning_point(chain, 0).reads), row(chain, weights, reads) {}

  BoundaryReads reads;
  Row row;
  Row::Solved solved = {};
};

PricedChoices::PricedChoices(const Chain& chain, const FateWeights& weights)
    : parts_(std::make_unique<Parts>(chain, weights)) {}

PricedChoices::~PricedChoices() = default;

Choices PricedChoices::at(double price) {
  parts_->row.solve(price, parts_->solved);
  return parts_->row.choices(parts_->solved);
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
  Row row(chain_, weights, reads_);
  // The values of a line: at its price, and at the price 0.
  const auto value = [&](const Row::Solved& line) { return line.cost.value - line.price * room_; };
  const auto bytes = [&](const Row::Solved& line) { return line.cost.bytes - room_; };
  const auto at_zero = [&](const Row::Solved& line) {
    return value(line) - line.price * bytes(line);
  };
  Row::Solved more, less, now;
  row.solve(0, more);
  BestBound best;
  best.value = value(more);
  if (bytes(more) <= 0) {
    less = more;
  } else {
    row.solve(2 * steepest_, less);
    best.value = std::max(value(more), value(less));
    for (int i = 0; i < 100 && bytes(less) < bytes(more); ++i) {
      const double price = (at_zero(less) - at_zero(more)) / (bytes(more) - bytes(less));
      const double meet = at_zero(more) + price * bytes(more);
      row.solve(price, now);
      best.value = std::max(best.value, value(now));
      if (value(now) >= meet - 1e-12 * std::abs(meet)) break;
      std::swap(bytes(now) > 0 ? more : less, now);
    }
  }
  const auto solution = [&](const Row::Solved& line) {
    return Solution{value(line), bytes(line), row.choices(line)};
  };
  best.price = less.price;
  best.less = solution(less);
  best.more = more.price == less.price ? best.less : solution(more);
  return best;
}

}  // namespace sluice
