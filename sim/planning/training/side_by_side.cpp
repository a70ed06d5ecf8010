// Describes several micro-batches that run side by side as one chain (fates/chain.hpp).
#include <algorithm>
#include <cmath>

#include "base/quantity.hpp"
#include "planning/training/training.hpp"

namespace sluice {

namespace {

std::int64_t plus(std::int64_t a, std::int64_t b) {
  return checked_add(a, b, "bytes of training");
}

class SideBySideChain {
 public:
  SideBySideChain(const Workload& workload, const SideBySideShape& shape)
      : count_(shape.in_flight),
        seconds_(static_cast<double>(shape.in_flight)),
        copies_(shape.overlap ? seconds_ / static_cast<double>(shape.devices) : seconds_),
        engines_(shape.overlap ? static_cast<double>(shape.devices) : 1),
        per_batch_(static_cast<double>(workload.batch / workload.micro_batch)),
        weights_stay_(shape.weights_stay) {}

  /// Returns how many chains a batch consists of. Each pass of the batch is one chain. A last pass with fewer
  /// micro-batches than the other passes is a fraction of a chain.
  double chains() const { return per_batch_ / seconds_; }
  double passes() const { return std::ceil(chains()); }
  double whole() const { return std::floor(chains()) / chains(); }

  ChainTensor tensor(const ChainTensor& one) const {
    return {bytes(one.bytes), copies_ * one.save_s, copies_ * one.load_s};
  }

  void take(ChainStage& stage, const StageState& state) const {
    stage.forward_s *= seconds_;
    stage.backward_s *= seconds_;
    stage.output = tensor(stage.output);
    stage.inner = tensor(stage.inner);
    stage.gradient = bytes(stage.gradient);
    if (weights_stay_) return;
    for (std::int64_t* workspace :
         {&stage.pass_workspace, &stage.keep_workspace, &stage.backward_workspace})
      *workspace = plus(*workspace, state.weights);
    stage.backward_workspace = plus(stage.backward_workspace, state.gradients);
    stage.turn = turn_of(state);
  }

 private:
  std::int64_t bytes(std::int64_t one) const { return checked_mul(one, count_, "bytes"); }

  ChainTurn turn_of(const StageState& state) const {
    const double sums = passes() - 1, updates = state.updates && state.weights > 0 ? 1 : 0;
    // If there is no update, no later operation uses the gradients. They are then the answer, so they are saved once.
    const double unused = state.updates || state.gradients == 0 ? 0 : 1;
    const auto each = [&](double of_batch) { return of_batch / chains() / engines_; };
    return {state.weights, state.weights_load_s / engines_,
            each(sums * state.gradients_load_s + updates * state.optimizer_load_s),
            each((sums + unused) * state.gradients_save_s +
                 updates * (state.weights_save_s + state.optimizer_save_s))};
  }

  std::int64_t count_;
  double seconds_, copies_, engines_, per_batch_;
  bool weights_stay_;
};

/// Sets the seconds in which the device computes nothing (FateRun). No computation hides the loads with which a step
/// begins: those of the first stage's weights. The last computation of a step updates these weights. Then they are
/// saved, and loaded again before the next step can begin. After the last step, the run still waits for the saves.
void wait_for_first_stage(const StageState& first, const SideBySideShape& shape, FateRun& run) {
  run.first_s = first.weights_load_s;
  if (!shape.overlap) {  // the seconds of all other copies are in the chain's passes
    run.between_s = first.weights_load_s;
    return;
  }
  const bool updates = first.updates && first.weights > 0;
  if (updates) run.between_s = first.weights_save_s + first.weights_load_s;
  run.last_s = updates ? first.weights_save_s + first.optimizer_save_s : first.gradients_save_s;
}

/// Computes a lower bound of the seconds for which passes wait for results from other devices. Consecutive passes of a
/// chain may be on different devices. Then the result of a pass goes to host memory, and from there to the device of
/// the next pass. While the result for the last micro-batch is copied, the device of the next pass computes this next
/// pass for the other micro-batches. A backward pass waits for the result of the previous backward pass, or, if a stage
/// is recomputed between the two, for the result of this stage. The bound counts the shortest of three times: the wait
/// for the previous backward pass, the wait for a recomputed stage, and the seconds of the recomputation. Without
/// overlap, the bound counts only the waits of forward passes, because a recomputation may move the next backward pass
/// to a device that already holds the result.
class HandOver {
 public:
  HandOver(const Chain& chain, const std::vector<StageState>& states, const SideBySideShape& shape)
      : chain_(chain),
        states_(states),
        shape_(shape),
        others_(static_cast<double>(shape.in_flight - 1)) {}

  double seconds() const {
    const std::size_t n = chain_.stages.size();
    // In a chain that branches, a pass may start without a wait, because it may not need the result of the previous
    // pass.
    if (shape_.devices == 1 || chain_.branches()) return 0;
    double all = 0;
    for (std::size_t s = 1; s < n; ++s)
      all += waits(copied(chain_.boundary(s)), chain_.stages[s].forward_s);
    for (std::size_t s = 0; shape_.overlap && s < n; ++s)
      all += std::min(waits(before_backward(s), chain_.stages[s].backward_s), recomputed_before(s));
    return all;
  }

 private:
  /// Returns the seconds of the save and the load of a result. Without overlap, the save does not count, because it may
  /// already be counted elsewhere.
  double copied(const ChainTensor& tensor) const {
    return shape_.overlap ? tensor.save_s + tensor.load_s : tensor.load_s;
  }
  double waits(double copied, double computed) const {
    if (!shape_.overlap) return static_cast<double>(shape_.in_flight) * copied;
    return std::max(0.0, copied + chain_.load_latency_s - others_ * computed);
  }

  /// Returns the least seconds that a recomputation directly before the backward pass of stage s takes. This
  /// backward pass then need not wait for the result of the previous backward pass: it may be copied meanwhile.
  double recomputed_before(std::size_t s) const {
    double least = chain_.stages[s].forward_s;
    for (std::size_t r = 0; r < s; ++r) least = std::min(least, chain_.stages[r].forward_s);
    return static_cast<double>(shape_.in_flight) * least;
  }

  /// Returns the least seconds of the copies before the backward pass of stage s, with overlap.
  double before_backward(std::size_t s) const {
    const ChainStage& stage = chain_.stages[s];
    const bool last = s + 1 == chain_.stages.size();
    double least = stage.gradient > 0 || last ? copied(stage.output) : 0;
    // The copied result is a gradient, which the backward pass of stage s + 1 made. During the copies, the device of
    // stage s + 1 computes the update of this stage. If backward passes are split in two, the device also computes the
    // half of the pass that makes the gradients of the weights.
    if (!last) least -= states_[s + 1].update_s + states_[s + 1].backward_weight_s;
    const auto consider = [&](bool read, const ChainTensor& tensor) {
      if (read && tensor.bytes > 0) least = std::min(least, copied(tensor));
    };
    consider(true, stage.inner);
    consider(stage.reads_input && s > 0, chain_.boundary(s));
    // Selective recomputation need not wait for the copied tensor. So it can run during the copies, and the device
    // waits only for the rest of their seconds.
    return std::max(0.0, least - states_[s].selective_s);
  }

  const Chain& chain_;
  const std::vector<StageState>& states_;
  const SideBySideShape& shape_;
  double others_;
};

}  // namespace

SideBySide side_by_side(const Chain& chain, const std::vector<StageState>& states,
                        const Workload& workload, const SideBySideShape& shape) {
  const SideBySideChain beside(workload, shape);
  SideBySide all{chain, run_of(workload, states)};
  all.chain.side_by_side = shape.in_flight;
  all.chain.input = beside.tensor(chain.input);
  for (std::size_t s = 0; s < states.size(); ++s) beside.take(all.chain.stages[s], states[s]);
  all.run.micro_batches = all.run.batches * beside.chains();
  all.run.one_a_step = workload.batches_per_step == 1 && beside.passes() == 1;
  all.run.whole_passes = beside.whole();
  all.run.steps = static_cast<double>(workload.steps);
  if (shape.weights_stay) return all;
  all.run.weights_s = 0;
  wait_for_first_stage(states.front(), shape, all.run);
  all.run.handed_over_s = HandOver(chain, states, shape).seconds();
  return all;
}

}  // namespace sluice
