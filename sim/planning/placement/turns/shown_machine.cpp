#include "planning/placement/turns/shown_machine.hpp"

#include <algorithm>
#include <cmath>

#include "base/quantity.hpp"
#include "planning/stage_bytes.hpp"
#include "planning/training/batch_bytes.hpp"

namespace sluice {
namespace {

/// How many sizes are compared. Plans of training take longer to make, so there are fewer.
constexpr int sizes_of_inference = 13, sizes_of_training = 6;
/// The routes between host memory and a memory of the device.
struct HostRoutes {
  const Path &down, &up;
};
HostRoutes routes_to(const Platform& platform, const std::string& memory) {
  const std::string& host = platform.host().name;
  return {platform.path(host, memory), platform.path(memory, host)};
}

/// Makes copies to and from the device take at least the latency and the set-up that they take to and from its second
/// memory on the platform `real`.
void slow_down_to_second(Platform& platform, const Platform& real, const Device& device) {
  const HostRoutes near = routes_to(real, device.name),
                   far = routes_to(real, device.memories[1].pool);
  const auto slow_down = [](Platform::Edge& edge, const Path& one, const Path& other) {
    edge.latency_s += std::max(0.0, other.latency_s - one.latency_s);
    edge.setup_s += std::max(0.0, other.setup_s - one.setup_s);
  };
  for (Platform::Edge& edge : platform.edges) {
    if (edge.to == device.memory().pool) slow_down(edge, near.down, far.down);
    if (edge.from == device.memory().pool) slow_down(edge, near.up, far.up);
  }
}

/// In inference, the first machine holds the bytes of all weights, and of the micro-batches of two steps, or of one
/// step if the run has only one. For each micro-batch, these are the most bytes of a stage, and the bytes of an input
/// and an answer that are in transfer meanwhile. The second machine lacks the inputs and answers in transfer. Each
/// further machine has three quarters of the memory of the machine before, so that the last one has 4 % of the second
/// one's. With many buffers, a plan may load inputs more than one step early, and may then need more bytes. Such a plan
/// is not placed.
std::vector<std::int64_t> sizes_in_inference(const PolicyRequest& request) {
  const auto sum = [](std::int64_t a, std::int64_t b) {
    return checked_add(a, b, "bytes of two steps");
  };
  std::int64_t weights = cache_bytes(request), most = 0;
  const std::vector<StageBytes> stages = stage_bytes(request);
  for (const StageBytes& stage : stages) {
    weights = sum(weights, stage.weights);
    most = std::max(most, sum(sum(stage.input, stage.output), sum(stage.workspace, stage.answer)));
  }
  const std::int64_t in_transfer = sum(stages.front().input, stages.back().output);
  const std::int64_t steps = std::min<std::int64_t>(2, request.workload.steps);
  const std::int64_t count =
      checked_mul(steps, request.workload.micro_batches_per_step(), "micro-batches");
  std::vector<std::int64_t> sizes;
  for (const std::int64_t bytes : {sum(most, in_transfer), most})
    sizes.push_back(sum(weights, checked_mul(bytes, count, "bytes of two steps")));
  while (sizes.size() < sizes_of_inference) sizes.push_back(sizes.back() - sizes.back() / 4);
  return sizes;
}

/// In training, the first machine holds all tensors of a batch. The last one holds the tensors of the largest stage for
/// one micro-batch. From each machine to the next, the size of the memory shrinks by the same factor.
std::vector<std::int64_t> sizes_in_training(const PolicyRequest& request,
                                            const ComputingDevices& on) {
  const Device& device = request.pricing.platform.device(on.names.front());
  const BatchBytes bytes = batch_bytes(request, device, on.overlap);
  std::vector<std::int64_t> sizes;
  const auto all = static_cast<double>(bytes.all);
  for (int n = 0; n < sizes_of_training; ++n) {
    const double share = std::pow(static_cast<double>(bytes.largest_stage) / all,
                                  static_cast<double>(n) / (sizes_of_training - 1));
    sizes.push_back(static_cast<std::int64_t>(std::ceil(share * all)));
  }
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

/// Returns whether a copy to or from the second memory of one of these devices has a longer latency or set-up than a
/// copy to or from the first memory of this device.
bool second_is_farther(const Platform& platform, const std::vector<std::string>& devices) {
  const auto farther = [](const Path& one, const Path& other) {
    return other.latency_s > one.latency_s || other.setup_s > one.setup_s;
  };
  return std::ranges::any_of(devices, [&](const std::string& device) {
    const HostRoutes near = routes_to(platform, device),
                     far = routes_to(platform, platform.device(device).memories[1].pool);
    return farther(near.down, far.down) || farther(near.up, far.up);
  });
}

}  // namespace

std::vector<std::int64_t> shown_sizes(const PolicyRequest& request, const ComputingDevices& on) {
  return request.workload.training ? sizes_in_training(request, on) : sizes_in_inference(request);
}

bool both_may_hold(const PolicyRequest& request, const ComputingDevices& on, std::int64_t bytes) {
  if (!request.capacity_enforced) return true;
  return std::ranges::all_of(on.names, [&](const std::string& name) {
    const std::vector<DeviceMemory>& both = request.pricing.platform.device(name).memories;
    const auto &first = both[0].capacity, &second = both[1].capacity;
    return !first || !second || bytes <= checked_add(*first, *second, "bytes of two memories");
  });
}

std::int64_t most_shown_sizes(const PolicyRequest& request) {
  return request.workload.training ? sizes_of_training : sizes_of_inference;
}

std::vector<ShownRates> shown_rates(const Platform& platform,
                                    const std::vector<std::string>& devices, bool all_slow) {
  const bool farther = second_is_farther(platform, devices);
  if (all_slow) return {{.memory = 1, .far = farther}};
  std::vector<ShownRates> all = {{.memory = 0}, {.memory = 1}};
  if (farther) all.push_back({.memory = 1, .far = true});
  return all;
}

ShownMachine::ShownMachine(const PolicyRequest& asked, const std::vector<std::string>& devices,
                           std::int64_t bytes, ShownRates rates)
    : platform(asked.pricing.platform), request(asked.priced(asked.pricing.on(platform))) {
  platform.lookup = {};
  for (Device& one : platform.devices) {
    if (std::ranges::count(devices, one.name) == 0) continue;
    one.memory().capacity = bytes;
    one.memory().read = one.memories[rates.memory].read;
    one.memory().write = one.memories[rates.memory].write;
  }
  for (const std::string& device : devices)
    if (rates.far)
      slow_down_to_second(platform, asked.pricing.platform, asked.pricing.platform.device(device));
  if (!asked.capacity_enforced)
    for (Memory& memory : platform.memories) memory.capacity.reset();
  request.capacity_enforced = true;
  request.made_to_change = true;
}

}  // namespace sluice
