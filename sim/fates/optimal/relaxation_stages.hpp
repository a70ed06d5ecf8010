// The recurrence of the relaxation (relaxation.hpp): goes from stage to stage, and finds the best choices for all
// stages so far. It is the same for two kinds of cost: for seconds plus the price of bytes (priced_choices.hpp), and
// for rows of bytes and seconds (relaxation.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fates/optimal/relaxation.hpp"

namespace sluice {

/// `Costs` has the type `Value` of a cost, and three functions. either(a, b) returns the better of two costs.
/// more(cost, seconds) returns a cost with more seconds. held(cost, bytes, copies_s) returns a cost with one more
/// tensor: the device holds its bytes at the turning point, or its copies take `copies_s` seconds.
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
      : costs_(costs), others_(others_of(chain, weights, reads)) {
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

  /// A tensor that may be held or copied. The seconds of the copies are multiplied by their weights.
  struct Tensor {
    double bytes = 0, copies_s = 0;
  };

  /// The tensors that the backward pass of the last stage reads, for all micro-batches but the first: the input and the
  /// output of the stage, and its inner tensors. A tensor that it does not read has 0 bytes.
  struct Others {
    Tensor input, output, inner;
  };
  const Others& others() const { return others_; }

  /// What the choices for a stage s depend on.
  struct Stage {
    Tensor boundary, inner;  ///< one copy of boundary s, and the inner tensors of stage s
    double again_s = 0;      ///< the weighted seconds of stage s if it runs again
    /// The devices that must get boundary s from somewhere after the turning point. What the first backward pass reads
    /// is on its device in any case.
    struct Needs {
      bool own =
          false;  ///< whether the device of stage s - 1, which makes the boundary, is one of them
      std::uint32_t others = 0;  ///< the number of other devices
      bool operator==(const Needs&) const = default;
    };
    std::array<Needs, 2>
        needs;  ///< the second element holds if stage s runs again, the first otherwise
    bool needs_alike = true;  ///< whether both elements of `needs` are equal
  };
  const Stage& stage(std::size_t s) const { return stages_[s]; }

  /// Returns the cost of the best choices for the stages before s, together with boundary s, which devices need as
  /// `needs` says.
  Value before_stage(const Before& before, const Stage& stage, const Stage::Needs& needs) const {
    const auto [own, others] = needs;
    Value cost = costs_.either(own ? with(before.once, stage.boundary) : before.once, before.again);
    // If stage s - 1 runs again, it makes the boundary on its own device only. So every other device holds a copy or
    // loads one.
    for (std::uint32_t i = 0; i < others; ++i) cost = with(cost, stage.boundary);
    return cost;
  }

  /// Returns the costs for the stages up to s.
  Before after(const Before& before, std::size_t s) const {
    const Stage& stage = stages_[s];
    const Value idle = before_stage(before, stage, stage.needs[0]);
    return {with(idle, stage.inner),
            costs_.more(stage.needs_alike ? idle : before_stage(before, stage, stage.needs[1]),
                        stage.again_s)};
  }

  /// Returns the cost of the best choices for all stages. `before` has the costs for the stages before the last.
  Value end(const Before& before) const {
    Value cost = before_stage(before, stages_.back(), stages_.back().needs[0]);
    for (const Tensor* tensor : {&others_.input, &others_.output, &others_.inner})
      if (tensor->bytes > 0) cost = with(cost, *tensor);
    return cost;
  }

  /// Returns whether stage s - 1 runs again in the best choices. `again` says whether stage s does.
  bool runs_before(const Before& before, std::size_t s, bool again) const {
    const Stage& stage = stages_[s];
    return before.again <
           (stage.needs[again].own ? with(before.once, stage.boundary) : before.once);
  }

 private:
  Value with(const Value& before, const Tensor& tensor) const {
    return costs_.held(before, tensor.bytes, tensor.copies_s);
  }

  static Others others_of(const Chain& chain, const FateWeights& weights,
                          const BoundaryReads& reads) {
    if (chain.side_by_side == 1) return {};
    const std::size_t n = chain.stages.size();
    const std::int64_t count = chain.side_by_side;
    const double share = static_cast<double>(count - 1) / static_cast<double>(count);
    const auto part = [&](const ChainTensor& tensor, std::size_t maker, double save_s) {
      const double copies_s = weights.load[maker] * tensor.load_s + weights.save[maker] * save_s;
      // The bytes are whole numbers, so that tensors which exactly fit are not too large by a rounding error.
      return Tensor{static_cast<double>(tensor.bytes / count * (count - 1)),
                    share * weights.others * copies_s};
    };
    const auto own = [&](const ChainTensor& tensor) { return part(tensor, n - 1, tensor.save_s); };
    Others others{{}, {}, own(chain.stages.back().inner)};
    if (chain.stages.back().reads_output) others.output = own(chain.stages.back().output);
    const ChainTensor& input = chain.boundary(n - 1);
    if (reads.last) others.input = n > 1 ? part(input, n - 2, input.save_s) : part(input, 0, 0);
    return others;
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
    stage.needs = {{{reads.own[s] != 0, reads.others[s]}, {reads.own[s] != 0, reads.others[s]}}};
    if (reads.follows[s]) {
      auto& [own, others] = stage.needs[true];
      const bool moves = s == 0 || chain.device(s) != chain.device(s - 1);
      if (moves && !reads.here[s]) ++others;
      own = own || !moves;
    }
    stage.needs_alike = stage.needs[0] == stage.needs[1];
    return stage;
  }

  const Costs& costs_;
  Others others_;
  std::vector<Stage> stages_;
  double always_s_ = 0;
};

}  // namespace sluice
