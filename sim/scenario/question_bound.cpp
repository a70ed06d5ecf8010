#include "scenario/question_bound.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/quantity.hpp"
#include "planning/placement/kernels.hpp"

namespace sluice {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A place in the model that all samples have reached. `computed` is the seconds in which all samples are computed up
/// to this place. `bytes` is the bytes that all samples together hold at this place.
struct Place {
  double computed = 0, bytes = 0;
  double seconds(double rate) const { return computed + (bytes > 0 ? bytes / rate : 0); }
};

/// Returns for each block k the cheapest place behind this block. The cost of a place is a sum of two times: the
/// computation of all samples up to the place, and the transfer of the bytes that they hold at the place.
std::vector<Place> cheapest_places(const QuestionTerms& terms) {
  std::vector<Place> cheapest(terms.blocks.size());
  double computed = 0;
  for (const auto& block : terms.blocks) computed += block.seconds / terms.devices;
  Place best{infinity, 0};
  const auto offer = [&](const Place& place) {
    if (place.seconds(terms.down_rate) < best.seconds(terms.down_rate)) best = place;
  };
  for (std::size_t k = terms.blocks.size(); k-- > 0;) {
    const QuestionTerms::Block& block = terms.blocks[k];
    offer({computed, block.waiting_bytes});
    cheapest[k] = best;
    computed -= block.seconds / terms.devices;
    offer({computed, block.inside_bytes});
  }
  return cheapest;
}

}  // namespace

// The proof of the bound. Every plan computes each layer at least once for each sample. The device that computes a
// layer holds the weights of the layer. If a layer is split into parts, this is true for each part. At the start,
// weights and inputs are in host memory. A tensor crosses a place in the model if a layer before the place makes it,
// and a layer behind the place reads it.
//
// 1. Computation. In a run of T seconds, n devices do at most n T seconds of work. No work is done in two intervals:
//    the `first` seconds, before the first input has arrived, and the `last` seconds, as the last answer leaves. So
//    T >= first + (all passes of all samples) / n + last.
//    The parts of a split layer together take at least as many seconds as the layer (cost/part_price.hpp). The only
//    exception is a profile with rows of its own for the parts of a layer: measured seconds are not changed.
// 2. Links. Inputs, weights (at least once) and answers (if they are returned) cross the host's
//    links: T >= bytes / rate.
// 3. The beginning. A computation behind block k works on a tensor to which all layers up to k have
//    contributed. So the weights of these layers have been loaded before this computation:
//    T >= (weights of blocks 0..k) / rate + (passes behind k of all samples) / n.
//    Only one tensor crosses from a block to the next block. Since a later layer reads this tensor, it is not an
//    answer. So the last block makes all answers. They leave after the weights of all earlier blocks have been loaded:
//    T >= (weights before the last block) / rate + (bytes of all answers) / (rate from the devices to the host).
// 4. The end. Let t be the time at which the last computation of blocks 0..k ends. Let s be the sample of this
//    computation. All computations of blocks 0..k end at or before t. So at t, each sample is at some place behind
//    block k: it has been computed up to this place. If the model does not end at this place, tensors of the sample
//    cross the place. At t these tensors are on a device, or they come from the host after t. (They are not computed
//    again. Otherwise a computation of blocks 0..k would end after t, or the sample would count as being at an earlier
//    place.) The sample s still needs all blocks behind k. So the weights of these blocks are on a device at t, or they
//    are loaded after t. At t the devices hold at most `capacity` bytes. So
//      t        >= first + sum over samples of (seconds up to its place) / n
//      T - t    >= (weights behind k + sum over samples of (bytes at its place) - capacity) / rate
//    The sum of these two bounds is smallest if every sample is at the place where (seconds / n + bytes / rate) is
//    smallest. A place is either the end of a block or inside a block. Inside a block means that a result of the block
//    is not computed yet. The seconds up to such a place count only the blocks before this block. Suppose that some
//    path of layers from the input of the block to this result had no held tensor. Then a layer before the block would
//    be computed again, and the sample would be at an earlier place. So the held tensors separate the result from the
//    beginning of the block. They have at least as many bytes as the smaller of these two: the smallest separating set
//    of tensors, and the block's input. (A split layer does not change this set. All its parts have the same inputs and
//    the same readers. So a set that has only some of the parts separates just as well without these parts.)
// 5. Training. In each batch, look at the first micro-batch that passes all layers. It uses all weights twice: in its
//    forward pass and in its backward pass. The weights change between two batches. The weights of the first layer that
//    has weights change last, and the next batch begins with this layer. So no two of these passes overlap, not
//    even those of two batches. Each batch has two intervals of time: one is the forward pass of its micro-batch, and
//    the other is the backward pass. An interval uses all weights, except perhaps the weights of that first layer. At
//    the start of an interval, at most `capacity` bytes of the used weights are still on the devices.
//    So T >= (inputs + weights + (intervals - 1) x (weights - capacity)) / rate.
QuestionBound bound_of(const QuestionTerms& terms) {
  double compute = 0, weights = 0;
  for (const auto& block : terms.blocks) {
    compute += block.seconds / terms.devices;
    weights += block.weight_bytes;
  }
  const double passes = compute + terms.backward_s / terms.devices;
  QuestionBound best{
      terms.first_s + passes + terms.last_s,
      "computation " + format_seconds(passes) + " on " +
          (terms.devices == 1 ? std::string("the device")
                              : std::to_string(static_cast<int>(terms.devices)) + " devices")};
  const auto take = [&](double seconds, const auto& reason) {
    if (seconds > best.seconds) best = {seconds, reason()};
  };
  take(terms.link_s, [&] {
    return "bytes that must cross " + terms.link + ": inputs, weights" +
           (terms.reloaded_bytes > 0 ? " (several times, because they do not fit)" : " once") +
           (terms.training ? "" : ", and answers that are returned");
  });
  const std::vector<Place> places = cheapest_places(terms);
  double before = 0, loaded = 0;
  for (std::size_t k = 0; k < terms.blocks.size(); ++k) {
    const QuestionTerms::Block& block = terms.blocks[k];
    before += block.seconds / terms.devices;
    loaded += block.weight_bytes;
    take(loaded / terms.down_rate + passes - before, [&] {
      return format_quantity(loaded, Dimension::bytes) + " of weights up to " + block.name +
             ", then computation " + format_seconds(passes - before);
    });
    if (k + 1 < terms.blocks.size() && terms.answers_s > 0)
      take(loaded / terms.down_rate + terms.answers_s, [&] {
        return format_quantity(loaded, Dimension::bytes) + " of weights up to " + block.name +
               ", then " + format_seconds(terms.answers_s) + " for answers that are returned";
      });
    // Part 4 of the proof does not hold in training: after the last computation of blocks 0..k, which is a backward
    // pass, no block behind k is needed.
    if (terms.training) continue;
    const double missing = places[k].bytes + weights - loaded - terms.capacity;
    take(terms.first_s + places[k].computed + missing / terms.down_rate, [&] {
      return "computation " + format_seconds(places[k].computed) + ", then " +
             format_quantity(missing, Dimension::bytes) + " behind " + block.name +
             " that the memory cannot hold yet";
    });
  }
  return best;
}

QuestionBound question_bound(const Scenario& scenario) {
  return question_bound(scenario, question_stages(scenario));
}

namespace {

/// Returns the least seconds in which the device can compute all passes of one micro-batch.
double seconds_on(const Scenario& scenario, const std::string& device) {
  const Workload& workload = scenario.workload;
  const std::vector<Stage> stages;
  const Pricing pricing{scenario.model,    stages,
                        scenario.platform, *scenario.cost,
                        workload.dtype,    workload.training ? &*workload.training : nullptr};
  const PlacedKernels work =
      placed_kernels({pricing, workload, "", 1}, two_memories(scenario.platform, device));
  double forward = 0, forward_with_backward = 0, backward = 0;
  for (std::size_t k = 0; k < work.kernels.size(); ++k) {
    const PlacedKernel& kernel = work.kernels[k];
    const double seconds = work.problem.kernels[k].time.least();
    if (kernel.kind == ActionKind::backward) backward += seconds;
    if (kernel.kind != ActionKind::forward) continue;
    forward += seconds;
    if (scenario.model.layers[kernel.layer].backward.runs) forward_with_backward += seconds;
  }
  // The price of the backward passes depends on the plan. With the factor `workload.backward`, a plan may multiply the
  // price of the forward passes of all layers that have a backward pass. Other plans price the backward pass of each
  // layer. The bound must hold for both kinds of plans, so it takes the smaller price.
  if (workload.training && workload.training->backward)
    backward = std::min(backward, *workload.training->backward * forward_with_backward);
  return forward + backward;
}

QuestionBound bound_of_computation(const Scenario& scenario) {
  const std::vector<const Device*> devices = question_devices(scenario);
  double least = infinity;
  QuestionBound bound;
  if (devices.size() < scenario.platform.devices.size())
    bound.within = " on " + devices.front()->name;
  try {
    for (const Device* device : devices)
      if (device->rate.count(scenario.workload.dtype) != 0)
        least = std::min(least, seconds_on(scenario, device->name));
  } catch (const InputError&) {
    bound.reason = "tensors may be in several memories";
    return bound;
  }
  const Workload& workload = scenario.workload;
  bound.seconds = least * static_cast<double>(workload.steps) *
                  static_cast<double>(workload.micro_batches_per_step()) /
                  static_cast<double>(devices.size());
  bound.reason = "computation " + format_seconds(bound.seconds) +
                 " with each tensor in the memory where its kernels are fastest";
  return bound;
}

/// Returns whether no device that may compute reads or writes host memory itself. Then inputs, weights and answers
/// cross the links of host memory.
bool work_beside_host(const Scenario& scenario) {
  const std::string& host = scenario.platform.host().name;
  return std::ranges::all_of(question_devices(scenario), [&](const Device* device) {
    return device->memories.size() > 1 &&
           std::ranges::none_of(device->memories,
                                [&](const DeviceMemory& memory) { return memory.pool == host; });
  });
}

/// Adds what the bound of computation does not count: transfers between host memory and the devices. The proof stands
/// beside bound_of(): all its parts hold for all memories of the devices together. Computation counts 0 s there.
QuestionBound with_transfers(const QuestionBound& computation, const QuestionTerms& terms) {
  QuestionBound bound = computation;
  bound.seconds += terms.first_s + terms.last_s;
  const QuestionBound transfers = bound_of(terms);
  if (!(transfers.seconds > bound.seconds)) return bound;
  bound.seconds = transfers.seconds;
  bound.reason = transfers.reason;
  return bound;
}

/// The bound of the question for policies that may place each tensor in either of two memories of a device. Returns the
/// larger of two bounds. The first bound has the seconds of the forward and backward passes of all micro-batches,
/// divided by the number of devices. Each pass counts as if its tensors were in the memories where it is fastest. Every
/// plan computes each pass at least once, so no plan is faster. If a pass has no price in the memories of its device,
/// this bound is 0. The second bound has the bytes that must cross the links of host memory. It is left out if a device
/// reads or writes host memory itself. `stages` are those of question_stages().
QuestionBound placed_bound(const Scenario& scenario, const std::vector<Stage>& stages) {
  const QuestionBound computation = bound_of_computation(scenario);
  if (!work_beside_host(scenario)) return computation;
  try {
    return with_transfers(computation, placed_terms(scenario, stages));
  } catch (const InputError&) {  // Host memory cannot send bytes to one of the memories.
    return computation;
  }
}

}  // namespace

QuestionBound question_bound(const Scenario& scenario, const std::vector<Stage>& stages) {
  const Value* placement = scenario.policy.keys.map().find("placement");
  if (placement && placement->text() != "none") return placed_bound(scenario, stages);
  QuestionTerms terms = question_terms(scenario, stages);
  QuestionBound bound = bound_of(terms);
  bound.within = std::move(terms.within);
  return bound;
}

}  // namespace sluice
