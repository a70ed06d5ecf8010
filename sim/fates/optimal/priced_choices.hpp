// Finds the best choices of the relaxation (relaxation.hpp) at a price of a byte.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "fates/optimal/relaxation.hpp"
#include "fates/optimal/relaxation_stages.hpp"

namespace sluice {

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

/// The choices for all stages, from the first to the last. The chain, the weights and the reads must outlive this
/// object.
class PricedChoices {
 public:
  using Cost = PricedCosts::Value;

  PricedChoices(const Chain& chain, const FateWeights& weights, const BoundaryReads& reads)
      : chain_(chain),
        weights_(weights),
        reads_(reads),
        n_(chain.stages.size()),
        stages_(chain, weights, reads, costs_) {}
  PricedChoices(const PricedChoices&) = delete;
  PricedChoices& operator=(const PricedChoices&) = delete;

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

  /// Returns the choices that solve() has found. For this, goes back from the last stage. If `loads` is given, also
  /// returns there for each boundary the number of devices that load it.
  Choices choices(const Solved& solved, std::vector<std::uint32_t>* loads = nullptr) {
    costs_.price = solved.price;
    Choices choices{std::vector<Fate>(n_, Fate::keep), std::vector<Fate>(n_ + 1, Fate::keep)};
    if (loads) loads->assign(n_ + 1, 0);
    bool again = false;  // whether stage s runs again
    for (std::size_t s = n_; s-- > 0;) {
      const auto& stage = stages_.stage(s);
      const auto goes = [&](const auto& tensor) {
        return costs_.goes(tensor.bytes, tensor.copies_s);
      };
      if (again) choices.inner[s] = Fate::recompute;
      if (!again && s + 1 < n_ && goes(stage.inner)) choices.inner[s] = Fate::offload;
      const auto [own, others] = stage.needs[again];
      again = stages_.runs_before(solved.before[s], s, again);
      const bool last_reads_it = s + 1 == n_ && reads_.last;
      if (again && !last_reads_it && others == 0) choices.boundary[s] = Fate::recompute;
      const std::uint32_t copies = others + (own && !again ? 1 : 0);
      if (copies == 0 || !goes(stage.boundary)) continue;
      choices.boundary[s] = Fate::offload;
      if (loads) (*loads)[s] = copies;
    }
    let_others_go(choices, loads);
    return choices;
  }

  /// Returns the choices with the least cost at this price.
  Choices at(double price) {
    solve(price, solved_);
    return choices(solved_);
  }

 private:
  /// Sets the choices for the tensors that the last stage's backward pass reads, if micro-batches run side by side.
  void let_others_go(Choices& choices, std::vector<std::uint32_t>* loads) const {
    const auto& [input, output, inner] = stages_.others();
    const auto goes = [&](const auto& tensor) {
      return costs_.goes(tensor.bytes, tensor.copies_s);
    };
    if (goes(inner)) choices.inner[n_ - 1] = Fate::offload;
    for (const std::size_t b : {n_ - 1, n_}) {
      if (!goes(b == n_ ? output : input)) continue;
      choices.boundary[b] = Fate::offload;
      if (loads) (*loads)[b] = 1;
    }
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
  Solved solved_;  ///< for at()
};

}  // namespace sluice
