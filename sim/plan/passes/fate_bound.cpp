#include "plan/passes/fate_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice {
namespace {

/// What a second counts on each engine.
struct Weights {
  double compute = 1, save = 1, load = 1;
};

struct Cost {
  double value = 0;  ///< seconds, and bytes at their price
  double bytes = 0;  ///< at the turning point
  Cost operator+(const Cost& other) const { return {value + other.value, bytes + other.bytes}; }
  bool operator<(const Cost& other) const { return value < other.value; }
};

class Relaxation {
 public:
  Relaxation(const Chain& chain, std::int64_t budget) : chain_(chain), n_(chain.stages.size()) {
    const ChainStage& last = chain.stages.back();
    std::int64_t working = last.inner.bytes + last.backward_workspace;
    if (n_ > 1) working += chain.stages[n_ - 2].gradient;
    if (last.reads_output) working += last.output.bytes;
    if (last.reads_input) working += chain.boundary(n_ - 1).bytes;
    room_ = static_cast<double>(budget - working);
  }

  bool fits() const { return room_ >= 0; }

  /// The greatest bound over all prices of a byte: concave in the price.
  double best(const Weights& weights) const {
    double low = 0, high = steepest_ * 2;
    double best = at(weights, 0).value;
    for (int i = 0; i < 60 && high > low; ++i) {
      const double price = (low + high) / 2;
      const Cost cost = at(weights, price);
      best = std::max(best, cost.value);
      (cost.bytes > 0 ? low : high) = price;  // more bytes than room: a byte is worth more
    }
    return best;
  }

  /// Finds the price above which nothing is kept.
  void scale() {
    const auto consider = [this](double seconds, std::int64_t bytes) {
      if (bytes > 0) steepest_ = std::max(steepest_, seconds / static_cast<double>(bytes));
    };
    double forward = 0;
    for (const ChainStage& stage : chain_.stages) forward += stage.forward_s;
    for (std::size_t b = 0; b <= n_; ++b) consider(forward, chain_.boundary(b).bytes);
    for (const ChainStage& stage : chain_.stages) consider(forward, stage.inner.bytes);
  }

 private:
  /// The relaxation's value less the price of the room; `bytes` is what it keeps beyond the room.
  Cost at(const Weights& weights, double price) const {
    const auto copied = [&](const ChainTensor& tensor, bool saved) {
      return weights.load * tensor.load_s + (saved ? weights.save * tensor.save_s : 0);
    };
    const auto held = [&](const ChainTensor& tensor, bool saved) {
      const auto bytes = static_cast<double>(tensor.bytes);
      return std::min(Cost{price * bytes, bytes}, Cost{copied(tensor, saved), 0});
    };
    double always = chain_.input.bytes > 0 ? weights.load * chain_.input.load_s : 0;
    for (const ChainStage& stage : chain_.stages)
      always += weights.compute * (stage.forward_s + stage.backward_s);
    constexpr double never = std::numeric_limits<double>::infinity();
    // The stages before s, where stage s - 1 does not run again, and where it does.
    Cost once{always, 0}, again{never, 0};
    for (std::size_t s = 0; s + 1 < n_; ++s) {
      const ChainStage& stage = chain_.stages[s];
      const Cost boundary = held(chain_.boundary(s), s > 0);
      const bool read_by_before = s > 0 && chain_.stages[s - 1].reads_output;
      const Cost needed = once + boundary;  // … by stage s or by backward s - 1
      const Cost runs = std::min(needed, again) + Cost{weights.compute * stage.forward_s, 0};
      const Cost idle = std::min(stage.reads_input || read_by_before ? needed : once, again);
      once = idle + held(stage.inner, true);
      again = runs;
    }
    // What the first backward pass reads is there, whatever runs again.
    Cost all = std::min(once, again);
    const ChainStage& last = chain_.stages.back();
    if (n_ > 1 && !last.reads_input && chain_.stages[n_ - 2].reads_output)
      all = std::min(once + held(chain_.boundary(n_ - 1), true), again);
    return {all.value - price * room_, all.bytes - room_};
  }

  const Chain& chain_;
  std::size_t n_;
  double room_ = 0;
  double steepest_ = 0;
};

/// The greatest value of a concave function on [0, 1]; any value that it takes is a bound.
template <class Function>
double greatest(const Function& function, int steps) {
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double low = 0, high = 1;
  double a = high - golden, b = low + golden;
  double at_a = function(a), at_b = function(b);
  double best = std::max({at_a, at_b, function(0.0), function(1.0)});
  for (int i = 0; i < steps; ++i) {
    if (at_a < at_b) {
      low = a, a = b, at_a = at_b;
      at_b = function(b = low + golden * (high - low));
    } else {
      high = b, b = a, at_b = at_a;
      at_a = function(a = high - golden * (high - low));
    }
    best = std::max({best, at_a, at_b});
  }
  return best;
}

}  // namespace

double fate_bound(const Chain& chain, std::int64_t budget, Copies copies) {
  if (chain.stages.empty()) return 0;
  Relaxation relaxation(chain, budget);
  if (!relaxation.fits()) return std::numeric_limits<double>::infinity();
  relaxation.scale();
  if (copies == Copies::serial) return relaxation.best({1, 1, 1});
  const int steps = chain.stages.size() > 200 ? 12 : 20;
  return greatest(
      [&](double compute) {
        return greatest(
            [&](double save) {
              return relaxation.best({compute, (1 - compute) * save, (1 - compute) * (1 - save)});
            },
            steps);
      },
      steps);
}

}  // namespace sluice
