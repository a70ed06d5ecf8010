#include "planning/training/chain/hand_over.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace sluice {

namespace {

class HandOver {
 public:
  HandOver(const Chain& chain, const std::vector<StageState>& states, const SideBySideShape& shape,
           double copies, const std::vector<Chain>& on_devices)
      : chain_(chain),
        states_(states),
        shape_(shape),
        copies_(copies),
        on_devices_(on_devices),
        readers_(chain.stages.size() + 1) {
    for (std::size_t s = 0; s < chain.stages.size(); ++s)
      chain.each_read(s, [&](std::size_t b, bool) { readers_[b].push_back(s); });
  }

  void take(Chain& all) const {
    for (std::size_t b = 0; b < readers_.size(); ++b) {
      if (readers_[b].empty()) continue;
      if (b > 0 && chain_.stages[b - 1].gradient > 0) copy_gradient(b, all);
      copy_output(b, all);
    }
    for (std::size_t s = 0; shape_.overlap && s < states_.size(); ++s) {
      all.stages[s].hand_over.forward_wait_s = forward_wait(s);
      all.stages[s].hand_over.backward_wait_s = backward_wait(s);
    }
  }

 private:
  std::size_t device(std::size_t stage) const { return stage % shape_.devices; }

  /// Returns the chain with the prices of a device.
  const Chain& on(std::size_t device) const {
    return on_devices_.empty() ? chain_ : on_devices_[device];
  }

  /// Counts the copies of boundary b on its way to the devices whose stages read it. The tape itself loads the input
  /// for one of these devices.
  void copy_output(std::size_t b, Chain& all) const {
    std::set<std::size_t> others;
    for (const std::size_t reader : readers_[b]) others.insert(device(reader));
    others.erase(device(b == 0 ? readers_[b].front() : b - 1));
    if (others.empty()) return;
    ChainHandOver& copies = all.stages[b == 0 ? 0 : b - 1].hand_over;
    for (const std::size_t other : others) copies.load_s += copies_ * on(other).boundary(b).load_s;
    if (b > 0) copies.save_s += std::exchange(all.stages[b - 1].output.save_s, 0);
  }

  /// Counts the copies of the gradient of boundary b. The backward passes of the stages that read b add to this gradient
  /// one after the other, and the stage that makes b reads it last. It is copied each time the device changes.
  void copy_gradient(std::size_t b, Chain& all) const {
    ChainHandOver& copies = all.stages[b - 1].hand_over;
    std::size_t from = device(readers_[b].back());
    const auto go_to = [&](std::size_t to) {
      if (from == to) return;
      copies.gradient_save_s += copies_ * on(from).boundary(b).save_s;
      copies.gradient_load_s += copies_ * on(to).boundary(b).load_s;
      from = to;
    };
    for (std::size_t i = readers_[b].size(); i-- > 0;) go_to(device(readers_[b][i]));
    go_to(device(b - 1));
  }

  /// Whether stage s reads the output of the stage before it, and this stage is on another device.
  bool follows(std::size_t s) const {
    return s > 0 && device(s) != device(s - 1) && chain_.boundary(s).bytes > 0 &&
           std::find(readers_[s].begin(), readers_[s].end(), s) != readers_[s].end();
  }

  /// Returns the seconds until boundary b, or its gradient, has come from the device of one stage to that of another.
  double copied(std::size_t b, std::size_t from, std::size_t to) const {
    const Chain& loads = on(device(to));
    return on(device(from)).boundary(b).save_s + loads.boundary(b).load_s + loads.load_latency_s;
  }
  double others(double computed) const {
    return static_cast<double>(shape_.in_flight - 1) * computed;
  }

  /// The forward pass of the last micro-batch in stage s cannot begin before its input has been copied, after the forward
  /// pass in stage s - 1. Meanwhile, stage s can compute the other micro-batches.
  double forward_wait(std::size_t s) const {
    if (!follows(s)) return 0;
    return std::max(0.0, copied(s, s - 1, s) - others(chain_.stages[s].forward_s));
  }

  /// The backward pass of the last micro-batch in stage s cannot begin before the gradient of its output has been
  /// copied. Meanwhile, stage s can compute the other micro-batches, and the selective recomputation of the last one.
  /// The device of stage s + 1 can compute the rest of its phase: the gradients of the weights, and the update.
  double backward_wait(std::size_t s) const {
    if (s + 1 == states_.size() || !follows(s + 1) || chain_.stages[s].gradient == 0) return 0;
    const StageState& next = states_[s + 1];
    return std::max(0.0, copied(s + 1, s + 1, s) - others(chain_.stages[s].backward_s) -
                             states_[s].selective_s - next.backward_weight_s - next.update_s);
  }

  const Chain& chain_;
  const std::vector<StageState>& states_;
  const SideBySideShape& shape_;
  double copies_;
  const std::vector<Chain>& on_devices_;
  std::vector<std::vector<std::size_t>> readers_;  ///< for each boundary, the stages that read it
};

}  // namespace

void hand_over(const Chain& chain, const std::vector<StageState>& states,
               const SideBySideShape& shape, double copies, const std::vector<Chain>& on_devices,
               Chain& all) {
  if (shape.devices > 1) HandOver(chain, states, shape, copies, on_devices).take(all);
}

}  // namespace sluice
