#include "support/random_training.hpp"

#include <cmath>
#include <sstream>
#include <vector>

#include "document/load.hpp"
#include "planning/training/training.hpp"

namespace sluice::test {

namespace {

template <class Thing>
const Thing& one_of(Dice& dice, const std::vector<Thing>& things) {
  return things[dice.below(things.size())];
}

/// Returns a random number between 10^low and 10^high. The logarithm of the number is uniformly
/// distributed.
double spread(Dice& dice, int low, int high) {
  const double exponent = low + static_cast<double>(dice.below(1000)) / 1000 * (high - low);
  return std::pow(10, exponent);
}

std::string images(Dice& dice) {
  std::ostringstream out;
  out << "{type: input, name: x, shape: [" << 8 + dice.below(40) << ", " << 8 + dice.below(40)
      << ", " << 1 + dice.below(16) << "]}";
  int halvings = 0;
  const std::uint64_t layers = 1 + dice.below(9);
  for (std::uint64_t l = 0; l < layers; ++l) {
    std::uint64_t kind = dice.below(4);
    if (kind == 3 && ++halvings > 3) kind = 0;
    out << ", {name: l" << l << ", ";
    if (kind == 0) out << "type: relu}";
    if (kind == 1) out << "type: batch_norm}";
    if (kind == 2)
      out << "type: conv2d, channels: " << 2 + dice.below(40)
          << ", kernel: " << 1 + 2 * dice.below(3) << ", padding: same}";
    if (kind == 3) out << "type: max_pool, kernel: 2}";
  }
  if (dice.one_in(2)) out << ", {type: dense, name: out, features: " << 10 + dice.below(300) << "}";
  return out.str();
}

std::string rows(Dice& dice) {
  std::ostringstream out;
  out << "{type: input, name: x, shape: [" << 50 + dice.below(700) << "]}";
  const std::uint64_t layers = 1 + dice.below(9);
  for (std::uint64_t l = 0; l < layers; ++l)
    if (dice.one_in(3))
      out << ", {type: relu, name: l" << l << "}";
    else
      out << ", {type: dense, name: l" << l << ", features: " << 50 + dice.below(700) << "}";
  return out.str();
}

std::string platform(Dice& dice, const std::vector<std::string>& names) {
  const double rate = spread(dice, 9, 12), bandwidth = spread(dice, 7, 10);
  const std::string latency =
      dice.one_in(4) ? "" : "latency: " + std::to_string(spread(dice, -7, -4)) + "s, ";
  const std::string setup =
      dice.one_in(2) ? "setup: " + std::to_string(spread(dice, -7, -5)) + "s, " : "";
  std::ostringstream devices, links;
  for (const std::string& name : names) {
    const char* comma = devices.str().empty() ? "" : ", ";
    devices << comma << name << ": {rate: {float32: " << rate
            << "FLOP/s}, memory: {capacity: unlimited}}";
    links << comma << "host_" << name << ": {joins: [host, " << name
          << "], bandwidth: " << bandwidth << "B/s, " << latency << setup << "duplex: full}";
  }
  return "platform:\n  format: sluice-platform/1\n  name: random\n  devices: {" + devices.str() +
         "}\n  memories: {host: {capacity: unlimited}}\n  links: {" + links.str() + "}\n";
}

}  // namespace

StayingTensors random_staying(Dice& dice) {
  if (dice.one_in(3)) return {};
  return {true, !dice.one_in(3), !dice.one_in(3)};
}

std::string random_training(Dice& dice) {
  std::ostringstream out;
  out << "format: sluice-scenario/1\n";
  out << "model: {definition: {format: sluice-model/1, name: random, layers: ["
      << (dice.one_in(2) ? images(dice) : rows(dice)) << "]}}\n";
  out << "platform:\n  format: sluice-platform/1\n  name: random\n  devices: {gpu: {rate: "
         "{float32: "
      << spread(dice, 9, 12) << "FLOP/s}, memory: {capacity: unlimited}}}\n"
      << "  memories: {host: {capacity: unlimited}}\n"
      << "  links: {host: {joins: [host, gpu], bandwidth: " << spread(dice, 7, 10) << "B/s, ";
  if (!dice.one_in(4)) out << "latency: " << spread(dice, -7, -4) << "s, ";
  if (dice.one_in(2)) out << "setup: " << spread(dice, -7, -5) << "s, ";
  out << "duplex: full}}\n";
  const std::uint64_t micro_batch = 1 + dice.below(3), count = 1 + dice.below(12);
  out << "workload: {mode: training, batch: " << micro_batch * count
      << ", micro_batch: " << micro_batch << ", batches_per_step: " << 1 + dice.below(3)
      << ", steps: " << one_of<int>(dice, {1, 2, 3, 10, 100, 1000})
      << ", optimizer: " << one_of<std::string>(dice, {"sgd", "adam", "none"})
      << (dice.one_in(4) ? ", split_backward: true" : "") << "}\n";
  out << "stages: {cut: "
      << one_of<std::string>(dice, {"per_layer", "single_tensor", "single_tensor"}) << "}\n";
  out << "policy: {name: resident, overlap: " << (dice.one_in(5) ? "false" : "true") << "}\n";
  return out.str();
}

std::string random_training(Dice& dice, const std::string& policy, std::size_t devices) {
  std::ostringstream out;
  out << "format: sluice-scenario/1\n";
  out << "model: {definition: {format: sluice-model/1, name: random, layers: ["
      << (dice.one_in(2) ? images(dice) : rows(dice)) << "]}}\n";
  std::vector<std::string> names;
  for (std::size_t d = 0; d < devices; ++d) names.push_back("gpu" + std::to_string(d));
  out << platform(dice, names);
  const std::uint64_t micro_batch = 1 + dice.below(3), count = 1 + dice.below(9);
  out << "workload: {mode: training, batch: " << micro_batch * count
      << ", micro_batch: " << micro_batch << ", batches_per_step: " << 1 + dice.below(2)
      << ", steps: " << one_of<int>(dice, {1, 2, 10})
      << ", optimizer: " << one_of<std::string>(dice, {"sgd", "adam", "none"})
      << (dice.one_in(4) ? ", split_backward: true" : "") << "}\n";
  out << "stages: {cut: " << one_of<std::string>(dice, {"per_layer", "single_tensor"}) << "}\n";
  out << "policy: {name: " << policy << ", overlap: " << (dice.one_in(5) ? "false" : "true");
  if (dice.one_in(3)) out << ", in_flight: " << 1 + dice.below(count);
  out << "}\n";
  return out.str();
}

DrawnTraining::DrawnTraining(const std::string& text, Dice& dice)
    : scenario(read_scenario(parse_text(text, "random.yaml"), "random")),
      cut(cut_model(scenario)),
      request{{cut.split ? *cut.split : scenario.model, cut.stages, scenario.platform,
               *scenario.cost, scenario.workload.dtype, &*scenario.workload.training},
              scenario.workload} {
  const std::vector<std::string> strategies = {"keep_all", "recompute_all", "offload_all",
                                               "checkpoint", "sqrt"};
  request.fates = plain_fates(fate_catalog().find(strategies[dice.below(strategies.size())]));
  request.capacity_enforced = false;
}

void DrawnTraining::add_devices(TrainingOrder& order, Dice& dice) const {
  for (const Device& device : scenario.platform.devices) order.devices.push_back(device.name);
  if (!dice.one_in(2)) return;
  for (std::size_t s = 0; s < cut.stages.size(); ++s) order.staying.push_back(random_staying(dice));
}

}  // namespace sluice::test
