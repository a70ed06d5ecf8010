// Computes the numbers from which the bound of a question follows. They depend on the model, the platform, the
// workload, and a few keys of the policy.
#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "document/key.hpp"
#include "planning/copy_time.hpp"
#include "scenario/least_held.hpp"
#include "scenario/question_bound.hpp"
#include "stage/stage.hpp"
#include "workload/training.hpp"

namespace sluice {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What the keys under `policy:` say about the question. The keys that have no member here change only the plan.
struct PolicyLimits {
  bool inputs = true, answers = true;  ///< whether inputs and whether answers cross the host's link
  /// The only device that computes. If there is no value, all devices may compute.
  std::optional<std::string> device;
};

/// Returns true if the policy surely moves inputs and answers between host and device. All policies of Sluice do. They
/// have the parameter `outputs`, or they replicate a policy that has it. But a policy that a program adds at run time
/// may leave inputs and answers where they are.
bool moves_samples(const Policy& policy) {
  return policy.replicates || find_field(policy.parameters, "outputs");
}

PolicyLimits limits_of(const Scenario& scenario) {
  const Value& keys = scenario.policy.keys.map();
  const auto says = [&](const char* key, const char* word) {
    const Value* value = keys.find(key);
    return value && value->is_scalar() && value->text() == word;
  };
  const Policy& policy = *scenario.policy;
  PolicyLimits limits;
  limits.inputs = moves_samples(policy) && !says("host_data", "synthetic");
  limits.answers = limits.inputs && !says("outputs", "discard") && !scenario.workload.training;
  if (policy.all_devices) return limits;
  const Value* device = keys.find("device");
  limits.device =
      device && device->is_scalar() ? device->text() : scenario.platform.devices[0].name;
  return limits;
}

/// Returns the devices that may compute: all devices, or the only device that `limits` names.
std::vector<const Device*> devices_of(const Scenario& scenario, const PolicyLimits& limits) {
  if (limits.device) return {&scenario.platform.device(*limits.device)};
  std::vector<const Device*> devices;
  for (const Device& device : scenario.platform.devices) devices.push_back(&device);
  return devices;
}

/// All paths between the host and the memories of the devices, in one direction.
struct HostPaths {
  double rate = 0;                 ///< the most bytes per second of all paths together
  std::set<std::uint32_t> common;  ///< the channels that every path crosses
  double least_delay = infinity;   ///< the least seconds of set-up and latency among all paths
};

/// Returns the memories of the devices to which host memory may send bytes. If `all` is false, these are the first
/// memories only.
std::vector<std::string> pools_of(const std::vector<const Device*>& devices, bool all) {
  std::vector<std::string> pools;
  for (const Device* device : devices)
    for (const DeviceMemory& memory : device->memories)
      if ((all || &memory == &device->memory()) && std::ranges::count(pools, memory.pool) == 0)
        pools.push_back(memory.pool);
  return pools;
}

HostPaths host_paths(const Scenario& scenario, const std::vector<std::string>& pools, bool down) {
  const Platform& platform = scenario.platform;
  const std::string& host = platform.host().name;
  HostPaths paths;
  bool first = true;
  for (const std::string& pool : pools) {
    double faster = 0;
    for (const CopyMode mode : {CopyMode::asynchronous, CopyMode::synchronous}) {
      const Path& way = down ? platform.path(host, pool, mode) : platform.path(pool, host, mode);
      const std::set<std::uint32_t> channels(way.channels.begin(), way.channels.end());
      if (std::exchange(first, false)) paths.common = channels;
      std::erase_if(paths.common,
                    [&](std::uint32_t channel) { return !channels.contains(channel); });
      faster = std::max(faster, narrowest(platform, way.channels));
      paths.least_delay = std::min(paths.least_delay, way.setup_s + way.latency_s);
    }
    paths.rate += faster;
  }
  for (const std::uint32_t channel : paths.common)
    paths.rate = std::min(paths.rate, platform.channels[channel].bandwidth);
  return paths;
}

/// Marks the layers that read the output of `layer`, directly or through other layers.
std::vector<char> behind(const Model& model, std::uint32_t layer) {
  std::vector<char> reached(model.layers.size(), 0);
  reached[layer] = 1;
  for (std::uint32_t l = layer + 1; l < reached.size(); ++l)
    for (const std::uint32_t input : model.layers[l].inputs)
      if (reached[input]) reached[l] = 1;
  reached[layer] = 0;
  return reached;
}

bool one_answer(const Model& model) {
  std::vector<char> read(model.layers.size(), 0);
  for (const Layer& layer : model.layers)
    for (const std::uint32_t input : layer.inputs) read[input] = 1;
  return std::count(read.begin(), read.end(), 0) == 1;
}

/// Returns the bytes of the weights that every forward pass and every backward pass use. The weights of the first layer
/// that has weights do not count. Embedding tables and experts do not count, either, because a sample uses only a part
/// of them.
double weights_used_twice(const Model& model, double element) {
  const auto first = std::find_if(model.layers.begin(), model.layers.end(),
                                  [](const Layer& layer) { return layer.parameters > 0; });
  if (first == model.layers.end() || !one_answer(model)) return 0;
  const auto reached = behind(model, static_cast<std::uint32_t>(first - model.layers.begin()));
  double elements = 0;
  for (std::size_t l = 0; l < reached.size(); ++l)
    if (reached[l] && !model.layers[l].weights_read)
      elements += static_cast<double>(model.layers[l].parameters);
  return elements * element;
}

class Terms {
 public:
  Terms(const Scenario& scenario, const std::vector<Stage>& stages, bool placed)
      : scenario_(scenario),
        placed_(placed),
        workload_(scenario.workload),
        limits_(limits_of(scenario)),
        devices_(devices_of(scenario, limits_)),
        samples_(static_cast<double>(workload_.steps) *
                 static_cast<double>(workload_.samples_per_step())),
        stages_(stages) {}

  QuestionTerms make() {
    terms_.devices = static_cast<double>(devices_.size());
    terms_.training = workload_.training.has_value();
    terms_.within = within();
    add_memory();
    for (const Stage& stage : stages_) add_block(stage);
    add_links();
    return std::move(terms_);
  }

 private:
  /// Returns the part of the machine for which the bound holds, as words. If the bound holds for the whole machine,
  /// returns "".
  std::string within() const {
    std::string words;
    if (limits_.device && scenario_.platform.devices.size() > 1) words = " on " + *limits_.device;
    for (const Device* device : devices_)
      if (device->memories.size() > 1)
        return words + " whose kernels work in " + device->memory().pool;
    return words;
  }

  void add_memory() {
    for (const Device* device : devices_)
      for (const DeviceMemory& memory : device->memories)
        if (placed_ || &memory == &device->memory())
          terms_.capacity += scenario_.capacity_enforced && memory.capacity
                                 ? static_cast<double>(*memory.capacity)
                                 : infinity;
    if (scenario_.working_set_counted) return;
    // If the scenario ignores the working set, the inner tensors of the micro-batch that a device computes take no
    // memory. But the bound counts bytes for samples inside a stage: at most the input of the stage, which is the
    // output of the stage before. So each device gets additional capacity: the largest output of a stage for one
    // micro-batch.
    std::int64_t most = 0;
    for (const Stage& stage : stages_) most = std::max(most, stage.output_bytes);
    terms_.capacity +=
        terms_.devices * static_cast<double>(most) * static_cast<double>(workload_.micro_batch);
  }

  double seconds(ActionKind kind, const Stage& stage) const {
    if (placed_) return 0;
    const Pricing pricing{scenario_.model,    stages_,
                          scenario_.platform, *scenario_.cost,
                          workload_.dtype,    workload_.training ? &*workload_.training : nullptr};
    double least = infinity;
    for (const Device* device : devices_)
      // Devices without a rate for the dtype do not compute.
      if (device->rate.count(workload_.dtype) != 0)
        least = std::min(least,
                         price_of(pricing, {kind, stage, *device, workload_.micro_batch}).seconds);
    return least * samples_ / static_cast<double>(workload_.micro_batch);
  }

  /// Returns the least bytes that all samples hold while each sample is inside the stage: some of the stage's layers
  /// have been computed, and some have not.
  double inside(const Stage& stage) const {
    const auto computing = std::count_if(scenario_.model.layers.begin() + stage.first,
                                         scenario_.model.layers.begin() + stage.last + 1,
                                         [](const Layer& layer) { return !layer.inputs.empty(); });
    if (computing < 2) return infinity;
    const double bytes =
        least_held(scenario_.model, stage) * static_cast<double>(bytes_of(workload_.dtype));
    return std::min(bytes, static_cast<double>(stage.input_bytes)) * samples_;
  }

  void add_block(const Stage& stage) {
    QuestionTerms::Block block;
    block.name = stage.name;
    block.seconds = seconds(ActionKind::forward, stage);
    block.weight_bytes = static_cast<double>(stage.weight_bytes - stage.tied_bytes);
    const bool last = stage.last + 1 == scenario_.model.layers.size();
    // If the platform has another memory besides host memory, activations may come back from that memory. They then do
    // not go over the host's links, and do not count here.
    const bool comes_back = scenario_.platform.memories.size() == 1;
    if (!last && comes_back)
      block.waiting_bytes = static_cast<double>(stage.output_bytes) * samples_;
    if (!terms_.blocks.empty()) block.inside_bytes = comes_back ? inside(stage) : 0;
    terms_.blocks.push_back(std::move(block));
    if (workload_.training) terms_.backward_s += seconds(ActionKind::backward, stage);
  }

  /// A sample may have several inputs. If `smallest` is true, returns the bytes of the smallest input. Otherwise,
  /// returns the bytes of all inputs together.
  double input_bytes(bool smallest) const {
    double all = 0, least = infinity;
    for (const Layer& layer : scenario_.model.layers) {
      if (!layer.inputs.empty()) continue;
      all += static_cast<double>(layer.output);
      least = std::min(least, static_cast<double>(layer.output));
    }
    return (smallest ? least : all) * static_cast<double>(bytes_of(workload_.dtype));
  }

  /// Returns the bytes of weights that must be loaded again. A batch has two intervals (part 5 of the proof in
  /// question_bound.cpp). Each interval after the first interval of the run loads at least (used weights) - (memory of
  /// all devices) bytes again.
  double reloaded() const {
    if (!workload_.training) return 0;
    const double used =
        weights_used_twice(scenario_.model, static_cast<double>(bytes_of(workload_.dtype)));
    const double batches =
        workload_.training->optimizer->updates
            ? static_cast<double>(workload_.steps) * static_cast<double>(workload_.batches_per_step)
            : 1;
    return (2 * batches - 1) * std::max(0.0, used - terms_.capacity);
  }

  void add_links() {
    const std::vector<std::string> pools = pools_of(devices_, placed_);
    const HostPaths down = host_paths(scenario_, pools, /*down=*/true),
                    up = host_paths(scenario_, pools, /*down=*/false);
    terms_.down_rate = down.rate;
    if (limits_.inputs)
      terms_.first_s = down.least_delay + input_bytes(/*smallest=*/true) *
                                              static_cast<double>(workload_.micro_batch) /
                                              down.rate;
    if (limits_.answers) terms_.last_s = up.least_delay;
    terms_.reloaded_bytes = reloaded();
    double coming =
        terms_.reloaded_bytes + (limits_.inputs ? input_bytes(/*smallest=*/false) * samples_ : 0);
    for (const auto& block : terms_.blocks) coming += block.weight_bytes;
    const double going =
        limits_.answers ? static_cast<double>(stages_.back().output_bytes) * samples_ : 0;
    const auto offer = [&](double busy, const std::string& link) {
      if (busy > terms_.link_s) terms_.link_s = busy, terms_.link = link;
    };
    terms_.answers_s = going / up.rate;
    offer(coming / down.rate, "the host's links");
    offer(going / up.rate, "the host's links");
    for (std::uint32_t c = 0; c < scenario_.platform.channels.size(); ++c) {
      const double bytes = (down.common.count(c) ? coming : 0) + (up.common.count(c) ? going : 0);
      offer(bytes / scenario_.platform.channels[c].bandwidth, scenario_.platform.channels[c].name);
    }
  }

  const Scenario& scenario_;
  bool placed_;
  const Workload& workload_;
  PolicyLimits limits_;
  std::vector<const Device*> devices_;
  double samples_;
  const std::vector<Stage>& stages_;
  QuestionTerms terms_;
};

}  // namespace

std::vector<const Device*> question_devices(const Scenario& scenario) {
  return devices_of(scenario, limits_of(scenario));
}

std::vector<Stage> question_stages(const Scenario& scenario) {
  const Cut& cut = cut_catalog().find("single_tensor");
  const Value nothing = Value::make_map();
  const Record record{"stages", "", {}};
  const Workload& workload = scenario.workload;
  const CutRequest request{.model = scenario.model,
                           .device = *question_devices(scenario).front(),
                           .cost = *scenario.cost,
                           .dtype = workload.dtype,
                           .samples = workload.micro_batch,
                           .working_set_counted = true,
                           .cut = nullptr};
  return make_stages(scenario.model, cut.last_layers(request, Reader(nothing, record)),
                     workload.dtype);
}

QuestionTerms question_terms(const Scenario& scenario, const std::vector<Stage>& stages) {
  return Terms(scenario, stages, /*placed=*/false).make();
}

QuestionTerms placed_terms(const Scenario& scenario, const std::vector<Stage>& stages) {
  return Terms(scenario, stages, /*placed=*/true).make();
}

}  // namespace sluice
