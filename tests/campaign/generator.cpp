#include "campaign/generator.hpp"

namespace sluice::test {
namespace {

std::string key(const std::string& name, const std::string& value) {
  return ", " + name + ": " + value;
}

/// A policy that was drawn, and the number of its devices.
struct DrawnPolicy {
  std::string policy;  ///< the mapping of the policy, without braces
  /// The name of the policy, or for data_parallel the name of the replica's policy.
  std::string acting;
  bool training = false;
  bool is_replicated = false;
  bool sums_gradients = false;
  bool places = false;  ///< whether tensors may be in two memories
  bool moves = false;   ///< whether the placement moves tensors during the run
  int devices = 1;
  std::string phases;  ///< the line with the key `phases`; empty without this key
};

DrawnPolicy draw_policy(Draws& draws) {
  DrawnPolicy drawn;
  drawn.training = draws.one_in(2);
  const bool replicated = draws.one_in(5);
  std::vector<std::string> names = {"resident", "streamed", "phased"};
  if (!drawn.training && !replicated)
    names = {"resident", "basic", "streamed", "phased", "sharded"};
  drawn.acting = draws.one_of(names);
  drawn.is_replicated = replicated;
  drawn.policy =
      replicated ? "name: data_parallel" + key("replica", drawn.acting) : "name: " + drawn.acting;
  const bool many = replicated || drawn.acting == "phased" || drawn.acting == "sharded";
  if (many) drawn.devices = draws.number(1, 3);
  drawn.sums_gradients = replicated && drawn.training;
  if (replicated && drawn.training && draws.one_in(3)) {
    const std::string when = draws.one_of({"after", "off"});
    drawn.sums_gradients = when != "off";
    drawn.policy += key("all_reduce", when);
  }
  if (replicated && draws.one_in(3))
    drawn.policy += key("transfers", draws.one_of({"together", "in_turn"}));
  return drawn;
}

/// Adds keys that exist only for inference under policy `phased`. Returns whether a phase computes all batches of a
/// step.
bool add_phase_settings(Draws& draws, DrawnPolicy& drawn) {
  if (draws.one_in(4)) drawn.policy += key("weights", "on_demand");
  if (draws.one_in(4)) drawn.policy += key("host_data", "synthetic");
  const bool once_a_step = draws.one_in(4);
  if (once_a_step) drawn.policy += key("weights_per", "step");
  if (draws.one_in(3)) return once_a_step;
  drawn.phases = "phases: {activations: " + draws.one_of({"pair_link", "streaming", "on_chip"});
  if (!drawn.is_replicated && draws.one_in(4))
    drawn.phases += key("stages", draws.one_of({"1", "2"}));
  return once_a_step;
}

/// Draws which tensors are in slow memory. Slow memory is the second memory of the device, or host memory.
void add_placement(Draws& draws, DrawnPolicy& drawn, const DrawnMachine& machine) {
  std::vector<std::string> ways = {"none"};
  if (drawn.acting == "basic") return;
  const bool several = !drawn.is_replicated && drawn.devices > 1;
  if (drawn.acting == "resident" && machine.has_bandwidth &&
      (!drawn.sums_gradients || machine.has_own_second))
    ways = {"none", "auto", "static", "first_touch", "all_slow", "synchronous", "asynchronous"};
  if (ways.size() > 1 && machine.has_second) ways.push_back("cached");
  const bool turns = drawn.acting == "streamed" || drawn.acting == "phased";
  if (machine.has_own_second && !several &&
      (turns || (drawn.acting == "resident" && drawn.training)))
    ways.push_back("backing");
  if (machine.has_own_second && drawn.acting != "resident") ways.push_back("auto");
  if (machine.has_own_second && drawn.acting != "resident")
    ways.insert(ways.end(), {"static", "first_touch", "all_slow", "synchronous", "asynchronous"});
  if (machine.has_own_second && drawn.acting != "resident") ways.push_back("cached");
  // Without the key `placement`, a device that has two memories of its own has tensors in both.
  drawn.places = machine.has_own_second;
  if (!draws.one_in(machine.has_second ? 2 : 12)) return;
  const std::string way = draws.one_of(ways);
  drawn.places = way != "none";
  drawn.moves = way == "synchronous" || way == "asynchronous";
  drawn.policy += key("placement", way);
}

/// How much is computed.
struct DrawnWorkload {
  std::string text;  ///< the line with the key `workload`
  int micro_batch = 1;
  int batches_per_step = 1;
  int micro_batches = 1;  ///< of all batches of a step
};

/// Draws how many batches or micro-batches are in flight. For inference under `phased`, also draws the number of phases
/// in the last turn of a step. It must not be below the number of batches that are left for this turn. Replicas may
/// have different numbers of batches left. So if `in_flight` is given, replicas get `in_flight` phases: enough for all.
void add_in_flight(Draws& draws, DrawnPolicy& drawn, const DrawnWorkload& workload) {
  const bool open = !draws.one_in(3);
  const int in_flight = open ? 6 : draws.number(1, std::min(6, workload.micro_batches));
  if (!open) drawn.policy += key("in_flight", std::to_string(in_flight));
  if (drawn.acting != "phased" || drawn.training || !draws.one_in(3)) return;
  const int left = open ? 1 : workload.batches_per_step % in_flight;
  const int least = drawn.is_replicated && !open ? in_flight : std::max(left, 1);
  drawn.policy += key("last_turn", std::to_string(draws.number(least, in_flight)));
}

void add_settings(Draws& draws, DrawnPolicy& drawn, const DrawnWorkload& workload) {
  const bool acts = drawn.acting != "basic";
  if (acts && draws.one_in(4)) drawn.policy += key("overlap", "false");
  const bool overlaps = drawn.policy.find("overlap") == std::string::npos;
  const bool streams = drawn.acting == "streamed", phases = drawn.acting == "phased";
  const bool once_a_step = phases && !drawn.training && add_phase_settings(draws, drawn);
  if ((streams || phases) && !once_a_step) add_in_flight(draws, drawn, workload);
  if (drawn.training) return;
  if (acts && draws.one_in(4)) drawn.policy += key("outputs", "discard");
  if ((streams || drawn.acting == "resident") && draws.one_in(3))
    drawn.policy += key("buffers", std::to_string(draws.number(1, 6)));
  if (streams && draws.one_in(3)) drawn.policy += key("pieces", draws.one_of({"whole", "20kB"}));
  if (streams && draws.one_in(3)) drawn.policy += key("resident", draws.one_of({"none", "all"}));
  if (streams && overlaps && draws.one_in(3))
    drawn.policy += key("prefetch", std::to_string(draws.number(0, 3)));
}

/// Draws whether a choice is left open. For several devices, open choices are rare, because their candidates take most
/// of a campaign's time.
bool left_open(Draws& draws, const DrawnPolicy& drawn) {
  return draws.one_in(drawn.devices > 1 ? 8 : 3);
}

std::string random_cut(Draws& draws, DrawnPolicy& drawn) {
  if (left_open(draws, drawn)) {
    const bool is_after = !drawn.phases.empty() && draws.one_in(2);
    if (is_after) drawn.phases += key("after", "[2]");
    return "";
  }
  std::vector<std::string> cuts = {"per_layer",
                                   "whole",
                                   "single_tensor",
                                   "{cut: balanced, count: 1}",
                                   "{cut: balanced, count: 2}",
                                   "{cut: explicit, after: [2]}"};
  if (drawn.acting == "streamed")
    cuts.push_back("{cut: by_weight, groups: " + std::to_string(draws.number(2, 12)) + "}");
  cuts.push_back("by_memory");
  cuts.push_back("{cut: by_memory, split: true}");
  if (drawn.acting == "streamed" && !drawn.training) cuts.push_back("by_time");
  const std::string cut = draws.one_of(cuts);
  return "stages: " + cut + "\n";
}

/// Draws the strategy for fates. If the placement moves tensors during the run, the scenario names one strategy.
/// Otherwise Sluice would search a placement for each strategy, which may take minutes.
std::string random_fates(Draws& draws, const DrawnPolicy& drawn) {
  if (left_open(draws, drawn) && !drawn.moves) return "";
  std::vector<std::string> fates = {"keep_all"};
  if (drawn.acting == "streamed") fates.push_back("offload_all");
  if (drawn.training)
    fates = {"keep_all",
             "offload_all",
             "recompute_all",
             "checkpoint",
             "sqrt",
             "selective",
             drawn.moves ? "keep_all" : "optimal",
             drawn.moves ? "keep_all" : "optimal",
             "{strategy: listed, offload: [1]}",
             "{strategy: listed, recompute: [1]}"};
  return "fates: " + draws.one_of(fates) + "\n";
}

/// The cost models that may price the layers.
enum class Prices { roofline_or_peak, peak, measured, fitted };

DrawnWorkload random_workload(Draws& draws, const DrawnPolicy& drawn, Prices prices) {
  const int micro_batch = draws.number(1, 3);
  const int steps = draws.number(1, 4);
  const int per_step = draws.one_in(3) ? draws.number(2, 3) : 1;
  // Plans for several devices are long, and Sluice compares many of these plans. So scenarios with several devices have
  // fewer micro-batches than scenarios with one device.
  const int accumulation =
      draws.number(1, drawn.devices > 1 ? 2 : 4) * (drawn.training ? drawn.devices : 1);
  std::string text = "workload: {batch: " + std::to_string(micro_batch * accumulation) +
                     key("micro_batch", std::to_string(micro_batch)) +
                     key("batches_per_step", std::to_string(per_step)) +
                     key("steps", std::to_string(steps));
  if (draws.one_in(4)) text += key("dtype", "float16");
  if (drawn.training) {
    const std::string optimizer = draws.one_of({"sgd", "adam", "none"});
    text += key("mode", "training") + key("optimizer", optimizer);
    if (draws.one_in(4)) text += key("split_backward", "true");
    const bool knows = prices == Prices::measured || prices == Prices::fitted;
    if (!knows && draws.one_in(4)) text += key("backward", draws.one_of({"per_layer", "1.5"}));
    if (draws.one_in(5) && optimizer != "none") text += key("master_weights", "true");
  }
  return {text + "}\n", micro_batch, per_step, per_step * accumulation};
}

/// Draws the cost model. A placement needs the seconds of a kernel for
/// each memory. `peak` and measured profiles do not give these seconds.
Prices random_prices(Draws& draws, const DrawnPolicy& drawn, const DrawnMachine& machine) {
  if (drawn.places) return Prices::roofline_or_peak;
  if (draws.one_in(3)) return Prices::peak;
  if (draws.one_in(8)) return Prices::measured;
  if (machine.is_fitted && draws.one_in(2)) return Prices::fitted;
  return Prices::roofline_or_peak;
}

std::string cost_text(Prices prices) {
  switch (prices) {
    case Prices::peak:
      return "cost: peak\n";
    case Prices::measured:
      return "cost: measured\n";
    case Prices::fitted:
      return "cost: {model: fitted, file: gpus_float32, unfitted: roofline}\n";
    case Prices::roofline_or_peak:
      break;
  }
  return "";
}

}  // namespace

Question random_question(Draws& draws) {
  Question question;
  static const std::vector<double> shares = {0, 1, 1, 0.9, 0.7, 0.5, 0.3};
  question.share = shares[draws.below(static_cast<std::uint32_t>(shares.size()))];
  if (draws.one_in(6)) question.host_share = draws.one_in(2) ? 1.5 : 1;
  if (draws.one_in(8)) question.reserved = draws.one_in(2) ? 3'000'000 : 77;
  DrawnPolicy drawn = draw_policy(draws);
  const DrawnMachine machine = random_machine(draws, drawn.devices);
  add_placement(draws, drawn, machine);
  const Prices prices = random_prices(draws, drawn, machine);
  const DrawnWorkload workload = random_workload(draws, drawn, prices);
  add_settings(draws, drawn, workload);
  const std::string cut = random_cut(draws, drawn), fates = random_fates(draws, drawn);
  std::string rest = cost_text(prices);
  if (!drawn.phases.empty()) rest += drawn.phases + "}\n";
  if (draws.one_in(8)) rest += "memory: {capacity: unlimited}\n";
  const bool is_measured = prices == Prices::measured;
  question.text =
      "format: sluice-scenario/1\nmodel: {definition: {format: sluice-model/1, name: random" +
      (is_measured ? key("measured_batch", std::to_string(workload.micro_batch)) : "") +
      ", layers: [" + random_network(draws, is_measured) + "]}}\n" + machine.text + workload.text +
      cut + fates + "policy: {" + drawn.policy + "}\n" + rest;
  return question;
}

}  // namespace sluice::test
