// The recurrence of the relaxation (relaxation.hpp): goes from stage to stage, and finds the best choices for all stages
// so far. It is the same for two kinds of cost: for seconds plus the price of bytes (relaxation.cpp), and for rows of
// bytes and seconds (relaxation_whole.cpp).
#pragma once

#include <cstddef>

#include "fates/optimal/relaxation.hpp"

namespace sluice {

/// `Costs` has the type `Value` of a cost, and three functions. either(a, b) returns the better of two costs.
/// more(cost, seconds) returns a cost with more seconds. held(cost, bytes, copies_s) returns a cost with one more tensor:
/// the device holds its bytes at the turning point, or its copies take `copies_s` seconds.
template <typename Costs>
class RelaxedStages {
 public:
  using Value = typename Costs::Value;

  /// The costs of the best choices for the stages before some stage s. `once` holds if stage s - 1 runs once, and
  /// `again` if it runs again after the turning point.
  struct Before {
    Value once, again;
  };

  RelaxedStages(const Chain& chain, const FateWeights& weights, const BoundaryReads& reads,
                const Costs& costs)
      : chain_(chain), weights_(weights), reads_(reads), costs_(costs), n_(chain.stages.size()) {}

  /// Returns the seconds of one forward pass and one backward pass of each stage.
  double always_s() const {
    double seconds = 0;
    for (std::size_t s = 0; s < n_; ++s)
      seconds += weights_.forward[s] * chain_.stages[s].forward_s +
                 weights_.backward[s] * chain_.stages[s].backward_s;
    return seconds;
  }

  /// Returns whether boundary s must come from somewhere after the turning point. `again` says whether stage s runs
  /// again. The first backward pass is at the turning point, and what it reads is on the device in any case.
  bool needs_boundary(std::size_t s, bool again) const {
    if (s + 1 == n_) return n_ > 1 && !reads_.last && reads_.later[s];
    return reads_.later[s] || (again && reads_.follows[s]);
  }

  /// Returns whether boundary s is needed on a device on which stage s - 1 cannot make it again. In this case, it is held
  /// there or loaded, even if stage s - 1 runs again. `again` says whether stage s runs again.
  bool needs_it_elsewhere(std::size_t s, bool again) const {
    if (s == 0 || !needs_boundary(s, again)) return false;
    const bool moves = chain_.device(s) != chain_.device(s - 1);
    return reads_.elsewhere[s] || (again && moves && reads_.follows[s]);
  }

  /// Returns the cost of the best choices for the stages before s, together with boundary s. `again` says whether stage s
  /// runs again.
  Value before_stage(const Before& before, std::size_t s, bool again) const {
    if (needs_it_elsewhere(s, again))
      return with_boundary(costs_.either(before.once, before.again), s);
    return costs_.either(needs_boundary(s, again) ? with_boundary(before.once, s) : before.once,
                         before.again);
  }

  /// Returns the costs for the stages up to s.
  Before after(const Before& before, std::size_t s) const {
    const Value idle = before_stage(before, s, false);
    const bool equal = needs_boundary(s, true) == needs_boundary(s, false) &&
                       needs_it_elsewhere(s, true) == needs_it_elsewhere(s, false);
    return {costs_.held(idle, bytes_of_inner(s), inner_copies_s(s)),
            costs_.more(equal ? idle : before_stage(before, s, true),
                        weights_.again * chain_.stages[s].forward_s)};
  }

  /// Returns the cost of the best choices for all stages. `before` has the costs for the stages before the last.
  Value end(const Before& before) const { return before_stage(before, n_ - 1, false); }

  /// Returns whether stage s - 1 runs again in the best choices. `again` says whether stage s does.
  bool runs_before(const Before& before, std::size_t s, bool again) const {
    const bool held = needs_boundary(s, again) && !needs_it_elsewhere(s, again);
    return before.again < (held ? with_boundary(before.once, s) : before.once);
  }

  Value with_boundary(const Value& before, std::size_t s) const {
    return costs_.held(before, bytes_of_boundary(s), boundary_copies_s(s));
  }

  double bytes_of_boundary(std::size_t s) const {
    return static_cast<double>(chain_.boundary(s).bytes);
  }
  double bytes_of_inner(std::size_t s) const {
    return static_cast<double>(chain_.stages[s].inner.bytes);
  }
  /// The copies of boundary s have the weight of the stage that makes it. The input is in host memory from the start.
  double boundary_copies_s(std::size_t s) const {
    if (s == 0) return weights_.load[0] * chain_.input.load_s;
    return copies_s(chain_.boundary(s), s - 1);
  }
  double inner_copies_s(std::size_t s) const { return copies_s(chain_.stages[s].inner, s); }

 private:
  double copies_s(const ChainTensor& tensor, std::size_t stage) const {
    return weights_.load[stage] * tensor.load_s + weights_.save[stage] * tensor.save_s;
  }

  const Chain& chain_;
  const FateWeights& weights_;
  const BoundaryReads& reads_;
  const Costs& costs_;
  std::size_t n_;
};

}  // namespace sluice
