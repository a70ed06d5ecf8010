// Describes several micro-batches that run side by side as one chain (fates/chain.hpp).
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/quantity.hpp"
#include "planning/copy_time.hpp"
#include "planning/training/chain/hand_over.hpp"
#include "planning/training/worst_moment.hpp"

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
        engines_(shape.overlap ? shape.copies_at_once.value_or(static_cast<double>(shape.devices))
                               : 1),
        copies_(seconds_ / engines_),
        per_batch_(static_cast<double>(workload.batch / workload.micro_batch)),
        weights_stay_(shape.weights_stay) {}

  /// Returns how many chains a batch consists of. Each pass of the batch is one chain. A last pass with fewer
  /// micro-batches than the other passes is a fraction of a chain.
  double chains() const { return per_batch_ / seconds_; }
  double passes() const { return std::ceil(chains()); }
  double whole() const { return std::floor(chains()) / chains(); }
  /// Returns how many times as long as for one micro-batch a copy takes.
  double copies() const { return copies_; }

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
    if (!state.stays.weights)
      for (std::int64_t* workspace :
           {&stage.pass_workspace, &stage.keep_workspace, &stage.backward_workspace})
        *workspace = plus(*workspace, state.weights);
    if (!state.stays.gradients)
      stage.backward_workspace = plus(stage.backward_workspace, state.gradients);
    stage.turn = turn_of(state);
  }

 private:
  std::int64_t bytes(std::int64_t one) const { return checked_mul(one, count_, "bytes"); }

  ChainTurn turn_of(const StageState& state) const {
    const double updates = state.updates && state.weights > 0 ? 1 : 0;
    // If there is no update, no later operation uses the gradients. They are then the answer, so they are saved once.
    const double unused = state.updates || state.gradients == 0 ? 0 : 1;
    const auto each = [&](double of_batch) { return of_batch / chains() / engines_; };
    ChainTurn turn;
    double loads = 0,
           saves = 0;  // the seconds of the copies per batch, without the loads of weights
    if (!state.stays.weights) {
      turn.bytes = state.weights;
      turn.load_s = state.weights_load_s / engines_;
      saves += updates * state.weights_save_s;
    }
    if (!state.stays.gradients) {
      loads += (passes() - 1) * state.gradients_load_s;
      saves += (passes() - 1 + unused) * state.gradients_save_s;
    }
    if (!state.stays.optimizer) {
      loads += updates * state.optimizer_load_s;
      saves += updates * state.optimizer_save_s;
    }
    turn.backward_load_s = each(loads);
    turn.backward_save_s = each(saves);
    return turn;
  }

  std::int64_t count_;
  double seconds_, engines_, copies_, per_batch_;
  bool weights_stay_;
};

/// Sets the seconds in which no device computes (FateRun) if copies do not overlap with computation. Then all actions
/// run one after the other, on all devices together. The seconds of all other copies are in the chain's passes. Of the
/// weights that take turns, the first are loaded in each step.
void wait_for_loads(const std::vector<StageState>& states, FateRun& run) {
  const auto first =
      std::ranges::find_if(states, [](const StageState& state) { return !state.stays.weights; });
  if (first != states.end()) run.first_s = run.between_s = first->weights_load_s;
  for (const StageState& state : states)
    if (state.stays.weights) run.first_s += state.weights_load_s;
}

/// Sets these seconds if copies overlap with computation. No computation hides the loads with which a step begins:
/// those of the first stage's weights. The last computation of a step updates these weights. Then they are saved, and
/// loaded again before the next step can begin. After the last step, the run still waits for the saves. If weights of
/// some stages stay, their updates may come last, and may hide these saves and loads.
void wait_for_first_stage(const std::vector<StageState>& states, FateRun& run) {
  const StageState& first = states.front();
  run.first_s = first.weights_load_s;
  if (std::ranges::any_of(states, [](const StageState& state) { return state.stays.weights; }))
    return;
  const bool updates = first.updates && first.weights > 0;
  if (updates) run.between_s = first.weights_save_s + first.weights_load_s;
  run.last_s = updates ? first.weights_save_s + first.optimizer_save_s : first.gradients_save_s;
}

/// Returns Chain::occupied for these tensors.
std::vector<std::int64_t> occupied_beside_least(const Constants& constants) {
  const std::int64_t least = constants.least();
  std::vector<std::int64_t> occupied;
  if (constants.most() == least) return occupied;
  for (std::size_t d = 0; d < constants.devices; ++d)
    occupied.push_back(constants.bytes(d) - least);
  return occupied;
}

/// Returns whether all devices that take turns have equally large memories.
bool equal_memories(const PolicyRequest& request, const TrainingOrder& order) {
  const auto capacity = [&](const std::string& name) {
    return request.pricing.platform.device(name).memory().capacity;
  };
  return !request.capacity_enforced ||
         std::all_of(order.devices.begin(), order.devices.end(), [&](const std::string& name) {
           return capacity(name) == capacity(order.devices.front());
         });
}

/// Returns how many copies the links can carry at the same time in the direction that `load` gives, if all devices copy
/// at full speed. If a copy has a set-up, during which its links are free, the devices count as if they had links of
/// their own. If the devices copy at different speeds, the slowest copies are those of which the links carry the most.
double copies_at_once(const Platform& platform, const TrainingOrder& order, bool load) {
  const std::string& host = platform.host().name;
  const auto devices = static_cast<double>(order.devices.size());
  const double common = narrowest(
      platform, links_of_all_copies(platform, order.devices, {.loads = load, .saves = !load}));
  double at_once = 0;
  for (const std::string& name : order.devices) {
    const CopyTime copy = load ? copy_time(platform, host, name) : copy_time(platform, name, host);
    if (copy.setup_s > 0) return devices;
    at_once = std::max(at_once, common / copy.bandwidth);
  }
  // Where transfers share links, a run may end a little before the sum of their seconds (within_accuracy).
  return std::min(devices, at_once / within_accuracy);
}

}  // namespace

SideBySideShape shape_of(const PolicyRequest& request, const TrainingOrder& order,
                         std::int64_t in_flight) {
  const Platform& platform = request.pricing.platform;
  return {in_flight,
          order.devices.size(),
          order.overlap,
          weights_stay(request, order),
          equal_memories(request, order),
          std::max(copies_at_once(platform, order, /*load=*/true),
                   copies_at_once(platform, order, /*load=*/false))};
}

SideBySide side_by_side(const Chain& chain, const std::vector<StageState>& states,
                        const Workload& workload, const SideBySideShape& shape,
                        const std::vector<Chain>& on_devices) {
  const SideBySideChain beside(workload, shape);
  SideBySide all{chain, run_of(workload, chain, states)};
  all.chain.side_by_side = shape.in_flight;
  if (shape.equal_memories) {
    all.chain.devices = shape.devices;
    all.chain.occupied = occupied_beside_least({states, shape.weights_stay, shape.devices});
  }
  all.chain.input = beside.tensor(chain.input);
  for (std::size_t s = 0; s < states.size(); ++s) beside.take(all.chain.stages[s], states[s]);
  hand_over(chain, states, shape, beside.copies(), on_devices, all.chain);
  all.run.micro_batches = all.run.batches * beside.chains();
  all.run.one_a_step = workload.batches_per_step == 1 && beside.passes() == 1;
  all.run.whole_passes = beside.whole();
  all.run.steps = static_cast<double>(workload.steps);
  if (shape.weights_stay) return all;
  all.run.weights_s = all.run.first_weights_s = all.run.weights_wait_s = 0;
  if (shape.overlap)
    wait_for_first_stage(states, all.run);
  else
    wait_for_loads(states, all.run);
  return all;
}

}  // namespace sluice
