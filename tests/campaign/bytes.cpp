// Checks the metrics of moved bytes. Compares them with the spans of the trace, and with the bytes that a run must
// move.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "campaign/invariants.hpp"
#include "policy/policy.hpp"

namespace sluice::test {
namespace {

/// Returns the number of a metric for this key. If the metric lacks the key, the result is 0.
double keyed(const Summary& summary, const char* metric, const std::string& key) {
  const double number = summary.number(metric, {key});
  return std::isnan(number) ? 0 : number;
}

/// Adds up the bytes of all spans of the trace, and compares the sums with the metrics.
void compare_with_spans(const Executed& run, Complaints& complaints) {
  const Plan& plan = run.plan();
  double all = 0;
  std::map<std::string, double> by_class;
  std::vector<double> by_link(plan.links.size(), 0);
  for (const Span& span : run.trace.spans)
    for (const Flow& flow : plan.actions[span.action].flows) {
      const auto bytes = static_cast<double>(flow.bytes);
      all += bytes;
      if (flow.tensor != none)
        by_class[std::string(name_of(plan.tensors[flow.tensor].tensor_class))] += bytes;
      for (const std::uint32_t link : plan.routes[flow.route].links) by_link[link] += bytes;
    }
  complaints.equal(run.summary.number("transferred_bytes"), all,
                   "the bytes that moved are the sum over all spans");
  for (const auto& [tensor_class, bytes] : by_class)
    complaints.equal(keyed(run.summary, "transferred_bytes_by_class", tensor_class), bytes,
                     "the bytes of class " + tensor_class + " are the sum over the spans");
  for (std::size_t l = 0; l < by_link.size(); ++l) {
    const Link& link = plan.links[l];
    complaints.equal(keyed(run.summary, "transferred_bytes_by_link", link.name), by_link[l],
                     "the bytes over link " + link.name + " are the sum over the spans");
    complaints.at_most(
        by_link[l] / link.bandwidth, run.seconds(),
        "link " + link.name + " moves at most as many bytes as its bandwidth allows");
  }
}

/// Returns whether a placement may put tensors into slow memory.
bool may_be_placed(const Executed& run) {
  const Value* const placement = run.scenario.policy.keys.map().find("placement");
  if (placement) return placement->text() != "none";
  return run.scenario.platform.devices.front().memories.size() > 1;
}

bool says(const Executed& run, const char* key, const char* word) {
  const Value* const value = run.scenario.policy.keys.map().find(key);
  return value && value->text() == word;
}

/// Returns the number of devices that each need all weights.
double replicas_of(const Executed& run) {
  const Workload& workload = run.scenario.workload;
  if (run.scenario.policy->name != "data_parallel") return 1;
  const std::int64_t shares =
      workload.training ? workload.batch / workload.micro_batch : workload.batches_per_step;
  return static_cast<double>(std::min<std::int64_t>(
      shares, static_cast<std::int64_t>(run.scenario.platform.devices.size())));
}

/// Checks that each weight and each input leaves the host's memory at least once. Checks that each answer arrives in
/// the host's memory.
void compare_with_needs(const Executed& run, Complaints& complaints) {
  if (may_be_placed(run)) return;
  const Model& model = run.scenario.model;
  const Workload& workload = run.scenario.workload;
  const auto element = static_cast<double>(bytes_of(workload.dtype));
  const double samples = run.summary.number("samples");
  std::set<std::uint32_t> read;
  double inputs = 0, answers = 0;
  for (const Layer& layer : model.layers) read.insert(layer.inputs.begin(), layer.inputs.end());
  for (std::uint32_t l = 0; l < model.layers.size(); ++l) {
    const auto elements = static_cast<double>(model.layers[l].output);
    if (model.layers[l].inputs.empty()) inputs += elements;
    if (read.count(l) == 0) answers += elements;
  }
  const auto moved = [&](const char* tensor_class) {
    return keyed(run.summary, "transferred_bytes_by_class", tensor_class);
  };
  complaints.at_most(static_cast<double>(model.parameters()) * element * replicas_of(run),
                     moved("weight"), "all weights are loaded to the device of every replica");
  if (says(run, "host_data", "synthetic")) return;
  complaints.at_most(inputs * element * samples, moved("input"), "every input is loaded");
  if (!workload.training && !says(run, "outputs", "discard"))
    complaints.at_most(answers * element * samples, moved("output"), "every answer is saved");
}

/// Checks the policies `basic` and `resident`, under which one device computes all stages.
/// In inference, each weight and each input must cross the host's links exactly once.
void compare_with_once(const Executed& run, Complaints& complaints) {
  const Scenario& scenario = run.scenario;
  const std::string policy = scenario.policy->name;
  if (may_be_placed(run)) return;
  if (scenario.workload.training || (policy != "basic" && policy != "resident")) return;
  const double samples = run.summary.number("samples");
  const Model& model = scenario.model;
  const double element = static_cast<double>(bytes_of(scenario.workload.dtype));
  complaints.equal(keyed(run.summary, "transferred_bytes_by_class", "weight"),
                   static_cast<double>(model.parameters()) * element, "weights are loaded once");
  double input = 0;
  for (const Layer& layer : model.layers)
    if (layer.type == "input") input += static_cast<double>(layer.output);
  complaints.equal(keyed(run.summary, "transferred_bytes_by_class", "input"),
                   input * element * samples, "each input is loaded exactly once");
}

}  // namespace

void check_bytes(const Executed& run, Complaints& complaints) {
  compare_with_spans(run, complaints);
  compare_with_needs(run, complaints);
  compare_with_once(run, complaints);
}

}  // namespace sluice::test
