#include "campaign/generator.hpp"

namespace sluice::test {
namespace {

std::string key(const std::string& name, const std::string& value) {
  return ", " + name + ": " + value;
}

std::string link(Draws& draws, const std::string& joins, const std::vector<std::string>& rates) {
  std::string text = "{joins: [" + joins + "], bandwidth: " + draws.one_of(rates);
  if (draws.one_in(2)) text += key("latency", draws.one_of({"1us", "7us", "300us", "20ms"}));
  if (draws.one_in(3)) text += key("setup", draws.one_of({"1us", "3us", "50us"}));
  const bool half = draws.one_in(5);
  if (half) text += key("duplex", "half");
  if (!half && draws.one_in(5)) text += key("up", draws.one_of({"{share: 0.5}", "{setup: 9us}"}));
  if (!half && draws.one_in(5)) text += key("together", draws.one_of({"1.5", "1.1"}));
  if (draws.one_in(3)) text += key("sharing", "private");
  if (draws.one_in(4)) text += key("idle", "3W") + key("busy", draws.one_of({"10W", "3W"}));
  return text + "}";
}

/// A policy, and the number of devices it is drawn for.
struct DrawnPolicy {
  std::string policy;  ///< its mapping, without braces
  std::string acting;  ///< the policy that computes; for data_parallel that of a replica
  bool training = false;
  int devices = 1;
};

DrawnPolicy draw_policy(Draws& draws) {
  DrawnPolicy drawn;
  drawn.training = draws.one_in(2);
  const bool replicated = draws.one_in(5);
  std::vector<std::string> names = {"resident", "streamed", "phased"};
  if (!drawn.training && !replicated)
    names = {"resident", "basic", "streamed", "phased", "sharded"};
  drawn.acting = draws.one_of(names);
  drawn.policy =
      replicated ? "name: data_parallel" + key("replica", drawn.acting) : "name: " + drawn.acting;
  const bool many = replicated || drawn.acting == "phased" || drawn.acting == "sharded";
  if (many) drawn.devices = draws.number(1, 3);
  if (replicated && drawn.training && draws.one_in(3))
    drawn.policy += key("all_reduce", draws.one_of({"after", "off"}));
  if (replicated && draws.one_in(3))
    drawn.policy += key("transfers", draws.one_of({"together", "in_turn"}));
  return drawn;
}

void add_settings(Draws& draws, DrawnPolicy& drawn, int batches) {
  const bool acts = drawn.acting != "basic";
  if (acts && draws.one_in(4)) drawn.policy += key("overlap", "false");
  const bool overlaps = drawn.policy.find("overlap") == std::string::npos;
  const bool streams = drawn.acting == "streamed", phases = drawn.acting == "phased";
  if ((streams || phases) && draws.one_in(3))
    drawn.policy += key("in_flight", std::to_string(draws.number(1, std::min(6, batches))));
  if (drawn.training) return;
  if (acts && draws.one_in(4)) drawn.policy += key("outputs", "discard");
  if ((streams || drawn.acting == "resident") && draws.one_in(3))
    drawn.policy += key("buffers", std::to_string(draws.number(1, 6)));
  if (streams && draws.one_in(3)) drawn.policy += key("pieces", draws.one_of({"whole", "20kB"}));
  if (streams && draws.one_in(3)) drawn.policy += key("resident", draws.one_of({"none", "all"}));
  if (streams && overlaps && draws.one_in(3))
    drawn.policy += key("prefetch", std::to_string(draws.number(0, 3)));
  if (phases && draws.one_in(4)) drawn.policy += key("weights", "on_demand");
}

/// Open choices on several devices take most of a campaign's time, so they are drawn less often.
bool left_open(Draws& draws, const DrawnPolicy& drawn) {
  return draws.one_in(drawn.devices > 1 ? 8 : 3);
}

std::string random_cut(Draws& draws, const DrawnPolicy& drawn) {
  if (left_open(draws, drawn)) return "";
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
  return "stages: " + draws.one_of(cuts) + "\n";
}

std::string random_fates(Draws& draws, const DrawnPolicy& drawn) {
  if (left_open(draws, drawn)) return "";
  std::vector<std::string> fates = {"keep_all"};
  if (drawn.acting == "streamed") fates.push_back("offload_all");
  if (drawn.training)
    fates = {"keep_all",
             "offload_all",
             "recompute_all",
             "checkpoint",
             "sqrt",
             "selective",
             "optimal",
             "optimal",
             "{strategy: listed, offload: [1]}",
             "{strategy: listed, recompute: [1]}"};
  return "fates: " + draws.one_of(fates) + "\n";
}

std::string random_workload(Draws& draws, const DrawnPolicy& drawn, int& batches) {
  const int micro_batch = draws.number(1, 3), steps = draws.number(1, 4);
  const int per_step = draws.one_in(3) ? draws.number(2, 3) : 1;
  // For several devices the plans are long, and many are compared, so there are fewer micro-batches.
  const int accumulation =
      draws.number(1, drawn.devices > 1 ? 2 : 4) * (drawn.training ? drawn.devices : 1);
  batches = per_step * accumulation;
  std::string text = "workload: {batch: " + std::to_string(micro_batch * accumulation) +
                     key("micro_batch", std::to_string(micro_batch)) +
                     key("batches_per_step", std::to_string(per_step)) +
                     key("steps", std::to_string(steps));
  if (draws.one_in(4)) text += key("dtype", "float16");
  if (drawn.training) {
    const std::string optimizer = draws.one_of({"sgd", "adam", "none"});
    text += key("mode", "training") + key("optimizer", optimizer);
    if (draws.one_in(4)) text += key("split_backward", "true");
    if (draws.one_in(4)) text += key("backward", "per_layer");
    if (draws.one_in(5) && optimizer != "none") text += key("master_weights", "true");
  }
  return text + "}\n";
}

}  // namespace

std::string random_machine(Draws& draws, int devices) {
  std::string device = "{count: " + std::to_string(devices);
  const std::string rate = draws.one_of({"1GFLOP/s", "10GFLOP/s", "200GFLOP/s", "3TFLOP/s"});
  device += key("rate", "{float32: " + rate + ", float16: " + rate + "}");
  device += key("memory", "{capacity: unlimited" +
                              (draws.one_in(2) ? key("bandwidth", draws.one_of({"1GB/s", "80GB/s"}))
                                               : std::string()) +
                              "}");
  if (draws.one_in(3)) device += key("idle", "20W") + key("busy", draws.one_of({"250W", "20W"}));
  if (draws.one_in(4)) device += key("launch_overhead", "2us");
  std::string host = "{capacity: unlimited";
  if (draws.one_in(5)) host += key("bandwidth", draws.one_of({"1GB/s", "20GB/s"}));
  if (draws.one_in(6)) host += key("read", "700MB/s");
  std::string links =
      "host: " + link(draws, "host, gpu", {"1GB/s", "50MB/s", "200MB/s", "12.5GB/s"});
  for (int d = 0; d + 1 < devices; ++d)
    if (!draws.one_in(4))
      links += ", pair" + std::to_string(d) + ": " +
               link(draws, "gpu" + std::to_string(d) + ", gpu" + std::to_string(d + 1),
                    {"2GB/s", "100MB/s"});
  return "platform:\n  format: sluice-platform/1\n  name: random\n  devices: {gpu: " + device +
         "}}\n  memories: {host: " + host + "}}\n  links: {" + links + "}\n";
}

Question random_question(Draws& draws) {
  Question question;
  static const std::vector<double> shares = {0, 1, 1, 0.9, 0.7, 0.5, 0.3};
  question.share = shares[draws.below(static_cast<std::uint32_t>(shares.size()))];
  DrawnPolicy drawn = draw_policy(draws);
  int batches = 1;
  const std::string workload = random_workload(draws, drawn, batches);
  add_settings(draws, drawn, batches);
  const std::string cut = random_cut(draws, drawn), fates = random_fates(draws, drawn);
  std::string rest;
  if (draws.one_in(3)) rest += "cost: peak\n";
  if (draws.one_in(8)) rest += "memory: {capacity: unlimited}\n";
  question.text =
      "format: sluice-scenario/1\nmodel: {definition: {format: sluice-model/1, name: "
      "random, layers: [" +
      random_network(draws) + "]}}\n" + random_machine(draws, drawn.devices) + workload + cut +
      fates + "policy: {" + drawn.policy + "}\n" + rest;
  return question;
}

}  // namespace sluice::test
