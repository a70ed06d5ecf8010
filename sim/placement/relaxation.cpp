#include "placement/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/interrupt.hpp"
#include "base/never.hpp"
#include "placement/envelope.hpp"

namespace sluice {
namespace {

/// Replaces the weights by the closest weights that add up to 1, and of which none is negative.
void project(std::vector<double>& weights) {
  std::vector<double> sorted = weights;
  std::sort(sorted.rbegin(), sorted.rend());
  double sum = 0, shift = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    const double at = (sum - 1) / static_cast<double>(i + 1);
    if (sorted[i] > at) shift = at;
  }
  for (double& weight : weights) weight = std::max(0.0, weight - shift);
}

class Relaxation {
 public:
  explicit Relaxation(const BoundRequest& request)
      : request_(request), question_(request.question), kernels_(question_.kernel_count()) {
    for (const PlacementProblem::Kernel& kernel : question_.problem().kernels) {
      lines_.push_back(kernel.time.lines_below(kernel.operands.size()));
      at_.below.push_back(lines_.back().back());
      shares_.emplace_back(lines_.back().size(), 0.0);
      shares_.back().back() = 1;
    }
    prices_.assign(kernels_, 0);
    unit_ = std::max(1e-12, question_.all_fast_seconds() / static_cast<double>(kernels_));
    if (!request.from) return;
    shares_ = request.from->shares;
    for (std::uint32_t k = 0; k < kernels_; ++k)
      prices_[k] = request.from->prices[k] * capacity() / unit_;
  }

  PlacementBound run() {
    PlacementBound best;
    best.seconds = -never;
    double step = 1;
    std::size_t since = 0;
    for (std::size_t n = 0; n < request_.iterations; ++n) {
      check_interrupt();
      price();
      const double seconds = bound_at(request_, at_, placing_);
      if (n == 0 || seconds > best.seconds + 1e-9 * std::abs(best.seconds)) {
        best = {seconds, at_.bytes, shares_};
        since = 0;
      } else if (++since >= 30) {
        step *= 0.8;
        since = 0;
      }
      const double left = std::max(request_.known - seconds, 1e-9 * std::abs(request_.known));
      if (!advance(step, left)) break;
    }
    return best;
  }

 private:
  double capacity() const { return std::max(1.0, static_cast<double>(request_.capacity)); }

  void price() {
    at_.bytes = prices_;
    for (double& price : at_.bytes) price *= unit_ / capacity();
    for (std::uint32_t k = 0; k < kernels_; ++k)
      if (lines_[k].size() > 1) at_.below[k] = mean_of(lines_[k], shares_[k]);
  }

  /// Makes one step along the subgradient: changes the prices of fast memory, and for each kernel the weights of the
  /// linear functions that replace its seconds (relaxation.hpp). A price that would become negative becomes 0. Returns
  /// false if the subgradient is zero.
  bool advance(double step, double left) {
    const std::vector<std::int64_t> bytes = fast_bytes(question_, placing_);
    const auto slow = slow_operands(question_, placing_);
    std::vector<double> price_slope(kernels_);
    std::vector<std::vector<double>> line_slope(kernels_);
    double square = 0;
    for (std::uint32_t k = 0; k < kernels_; ++k) {
      double slope = (static_cast<double>(bytes[k] - request_.capacity)) / capacity() * unit_;
      if (prices_[k] <= 0 && slope < 0) slope = 0;
      price_slope[k] = slope;
      square += slope * slope;
      if (lines_[k].size() < 2) continue;
      line_slope[k] = slope_of_lines(k, slow[k]);
      for (const double each : line_slope[k]) square += each * each;
    }
    if (!(square > 0)) return false;
    const double length = step * left / square;
    for (std::uint32_t k = 0; k < kernels_; ++k) {
      prices_[k] = std::max(0.0, prices_[k] + length * price_slope[k]);
      if (line_slope[k].empty()) continue;
      for (std::size_t l = 0; l < shares_[k].size(); ++l)
        shares_[k][l] += length * line_slope[k][l];
      project(shares_[k]);
    }
    return true;
  }

  std::vector<double> slope_of_lines(std::uint32_t k, const std::vector<char>& slow) const {
    std::vector<double> slopes;
    for (const KernelTime::Line& line : lines_[k]) {
      double value = line.base;
      for (std::size_t o = 0; o < slow.size(); ++o)
        if (slow[o]) value += line.extra[o];
      slopes.push_back(request_.weights.kernels * value);
    }
    const double mean =
        std::accumulate(slopes.begin(), slopes.end(), 0.0) / static_cast<double>(slopes.size());
    for (double& slope : slopes) slope -= mean;
    return slopes;
  }

  const BoundRequest& request_;
  const PlacementQuestion& question_;
  std::uint32_t kernels_;
  /// The unit of `prices_`, in seconds. At a price of 1, the whole fast memory costs this many seconds during one
  /// kernel.
  double unit_ = 1;
  std::vector<double> prices_;
  std::vector<std::vector<KernelTime::Line>> lines_;  ///< indexed by kernel
  std::vector<std::vector<double>> shares_;  ///< the weights of these lines, with the sum 1
  PlacementPrices at_;
  Placing placing_;
};

/// Returns the prices of one tensor's uses and gaps. For each kernel, `sums` has the sum of the prices of all earlier
/// kernels.
PathPrices path_prices(const BoundRequest& request, const PlacementPrices& prices,
                       const std::vector<double>& sums, std::uint32_t t) {
  const PlacementQuestion& question = request.question;
  const TensorUses& uses = question.uses(t);
  const auto bytes = static_cast<double>(question.tensor(t).bytes);
  const bool fits = question.tensor(t).bytes <= request.capacity;
  const auto held = [&](KernelRange range) { return sums[range.last] - sums[range.first]; };
  PathPrices of{.begins = question.tensor(t).begins,
                .from_slow = question.tensor(t).moves == PlacementProblem::Moves::from_slow,
                .written = &uses.written};
  for (std::size_t i = 0; i < uses.count(); ++i) {
    const std::uint32_t k = uses.kernels[i];
    of.slow.push_back(request.weights.kernels * prices.below[k].extra[uses.operands[i]]);
    of.fast.push_back(fits ? bytes * prices.bytes[k] : never);
    double hold = held(question.gap(t, i));
    if (i == 0) hold += held(question.behind(t));
    of.hold.push_back(fits ? bytes * hold : never);
  }
  of.fetch.assign(uses.count(), request.weights.fetch * question.fetch_s(t));
  of.save.assign(uses.count(), request.weights.save * question.save_s(t));
  return of;
}

}  // namespace

double bound_at(const BoundRequest& request, const PlacementPrices& prices, Placing& chosen) {
  const PlacementQuestion& question = request.question;
  std::vector<double> sums(question.kernel_count() + 1, 0);
  double seconds = 0;
  for (std::uint32_t k = 0; k < question.kernel_count(); ++k) {
    sums[k + 1] = sums[k] + prices.bytes[k];
    seconds += request.weights.kernels * prices.below[k].base;
  }
  seconds -= sums.back() * static_cast<double>(request.capacity);
  chosen.resize(question.tensor_count());
  for (std::uint32_t t = 0; t < question.tensor_count(); ++t) {
    PricedPath found =
        best_path_of(question, t, request.moves, path_prices(request, prices, sums, t));
    seconds += found.cost;
    chosen[t] = std::move(found.path);
  }
  return seconds;
}

PricedPath best_path_of(const PlacementQuestion& question, std::uint32_t t, bool moves,
                        const PathPrices& prices) {
  using Pinned = PlacementProblem::Pinned;
  const Pinned pinned = question.tensor(t).pinned;
  if (pinned == Pinned::no)
    return moves && question.tensor(t).moves != PlacementProblem::Moves::none
               ? best_path(prices)
               : best_constant_path(prices);
  PathPrices only = prices;
  if (pinned == Pinned::slow) {
    std::fill(only.fast.begin(), only.fast.end(), never);
    std::fill(only.hold.begin(), only.hold.end(), never);
  } else {
    std::fill(only.slow.begin(), only.slow.end(), never);
  }
  return best_constant_path(only);
}

PlacementBound relax(const BoundRequest& request) {
  return Relaxation(request).run();
}

}  // namespace sluice
