// The recurrence of the relaxation (relaxation.hpp): goes from stage to stage, and finds the best choices for all stages
// so far. It is the same for two kinds of cost: for seconds plus the price of bytes (relaxation.cpp), and for rows of
// bytes and seconds (relaxation_whole.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <vector>

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
      : costs_(costs) {
    const std::size_t n = chain.stages.size();
    stages_.reserve(n);
    for (std::size_t s = 0; s < n; ++s) {
      stages_.push_back(stage_of(chain, weights, reads, s));
      always_s_ += weights.forward[s] * chain.stages[s].forward_s +
                   weights.backward[s] * chain.stages[s].backward_s;
    }
  }

  /// Returns the seconds of one forward pass and one backward pass of each stage.
  double always_s() const { return always_s_; }

  /// What the choices for a stage s depend on.
  struct Stage {
    /// A tensor that may be held or copied. The seconds of the copies are multiplied by their weights.
    struct Tensor {
      double bytes = 0, copies_s = 0;
    };
    Tensor boundary, inner;  ///< boundary s, and the inner tensors of stage s
    double again_s = 0;      ///< the weighted seconds of stage s if it runs again
    /// How boundary s is read. The second of the two elements holds if stage s runs again, the first otherwise.
    struct Reads {
      /// Whether boundary s must come from somewhere after the turning point. The first backward pass is at the turning
      /// point, and what it reads is on the device in any case.
      bool boundary = false;
      /// Whether boundary s is needed on a device on which stage s - 1 cannot make it again. In this case, it is held
      /// there or loaded, even if stage s - 1 runs again.
      bool elsewhere = false;
      bool operator==(const Reads&) const = default;
    };
    std::array<Reads, 2> needs;
    bool needs_alike = true;  ///< whether both elements of `needs` are equal
  };
  const Stage& stage(std::size_t s) const { return stages_[s]; }

  /// Returns the cost of the best choices for the stages before s, together with boundary s. `again` says whether stage s
  /// runs again.
  Value before_stage(const Before& before, const Stage& stage, bool again) const {
    const auto [boundary, elsewhere] = stage.needs[again];
    if (elsewhere) return with(costs_.either(before.once, before.again), stage.boundary);
    return costs_.either(boundary ? with(before.once, stage.boundary) : before.once, before.again);
  }

  /// Returns the costs for the stages up to s.
  Before after(const Before& before, std::size_t s) const {
    const Stage& stage = stages_[s];
    const Value idle = before_stage(before, stage, false);
    return {
        with(idle, stage.inner),
        costs_.more(stage.needs_alike ? idle : before_stage(before, stage, true), stage.again_s)};
  }

  /// Returns the cost of the best choices for all stages. `before` has the costs for the stages before the last.
  Value end(const Before& before) const { return before_stage(before, stages_.back(), false); }

  /// Returns whether stage s - 1 runs again in the best choices. `again` says whether stage s does.
  bool runs_before(const Before& before, std::size_t s, bool again) const {
    const Stage& stage = stages_[s];
    const auto [boundary, elsewhere] = stage.needs[again];
    const bool held = boundary && !elsewhere;
    return before.again < (held ? with(before.once, stage.boundary) : before.once);
  }

 private:
  Value with(const Value& before, const typename Stage::Tensor& tensor) const {
    return costs_.held(before, tensor.bytes, tensor.copies_s);
  }

  static Stage stage_of(const Chain& chain, const FateWeights& weights, const BoundaryReads& reads,
                        std::size_t s) {
    const ChainStage& passes = chain.stages[s];
    Stage stage;
    const auto copies_s = [&](const ChainTensor& tensor, std::size_t maker) {
      return weights.load[maker] * tensor.load_s + weights.save[maker] * tensor.save_s;
    };
    // The copies of boundary s have the weight of the stage that makes it. The input is in host memory from the start.
    stage.boundary.copies_s =
        s == 0 ? weights.load[0] * chain.input.load_s : copies_s(chain.boundary(s), s - 1);
    stage.boundary.bytes = static_cast<double>(chain.boundary(s).bytes);
    stage.inner = {static_cast<double>(passes.inner.bytes), copies_s(passes.inner, s)};
    stage.again_s = weights.again * passes.forward_s;
    const bool is_last = s + 1 == chain.stages.size();
    const bool moves = s > 0 && chain.device(s) != chain.device(s - 1);
    for (const bool again : {false, true}) {
      const bool follows = again && reads.follows[s];
      auto& [boundary, elsewhere] = stage.needs[again];
      boundary = is_last ? s > 0 && !reads.last && reads.later[s] : reads.later[s] || follows;
      elsewhere = boundary && s > 0 && (reads.elsewhere[s] || (moves && follows));
    }
    stage.needs_alike = stage.needs[0] == stage.needs[1];
    return stage;
  }

  const Costs& costs_;
  std::vector<Stage> stages_;
  double always_s_ = 0;
};

}  // namespace sluice
