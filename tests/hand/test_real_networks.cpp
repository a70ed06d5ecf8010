// Tests ResNet-50, GPT-2 and U-Net with cuts through their branches, under several policies. The trace must have the
// model's FLOP and bytes. The replay and SimGrid's engine must give equal times.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "document/load.hpp"
#include "document/override.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "metrics/totals.hpp"
#include "plan/tables.hpp"
#include "run/isolated.hpp"
#include "scenario/scenario.hpp"
#include "stage/stage_inputs.hpp"
#include "support/models.hpp"
#include "support/source_folder.hpp"

namespace sluice {
namespace {

struct Network {
  const char* name;
  // The model is cut after these layers. Each cut goes through a residual block, a transformer block or branches of
  // U-Net.
  const char* after;
  // The share of the device's 900 MB that the cut `by_memory` may use. It is so small that the cut has several stages.
  const char* by_memory;
};

const std::vector<Network> networks = {
    {"resnet50", "[relu1.stage2.1, conv3.stage3.2, shortcut.stage4.first]", "3%"},
    {"gpt2", "[attention.4, gelu.9]", "33%"},
    {"unet", "[relu1.down2, pool4, both3]", "3%"},
};

struct PolicyCase {
  const char* keys;
  /// How often a run moves each weight. A run has 2 steps x 3 batches x 2 micro-batches = 12 micro-batches of 1
  /// sample.
  std::int64_t weights_times;
  bool saves_boundaries;
};

const std::vector<PolicyCase> policy_cases = {
    {"policy: {name: resident, device: ipu0}\n", 1, false},
    // Two of the six micro-batches of a step are in flight, so a step is three passes. Each pass loads all weights.
    {"policy: {name: streamed, device: ipu0, in_flight: 2, resident: none}\n", 6, false},
    // A phase loads its weights again for each batch. Tensors that cross a cut are saved and then loaded.
    {"policy: {name: phased}\nphases: {activations: streaming}\n", 6, true},
    {"policy: {name: phased, weights_per: step}\nphases: {activations: streaming}\n", 2, true},
};

Scenario scenario_of(const Network& network, const std::string& keys) {
  const std::string folder = test::source_folder();
  Value document = parse_text(
      "format: sluice-scenario/1\nworkload: {mode: inference, dtype: float16, batch: 2, "
      "micro_batch: 1, batches_per_step: 3, steps: 2}\n" +
          keys,
      "s.yaml");
  Value use = Value::make_map();
  use.set("definition", load_document(folder + "/models/" + network.name + ".yaml"));
  document.set("model", std::move(use));
  Value platform = load_document(folder + "/platforms/ipu_pair_gc200.yaml");
  // Each device has its own link, so that no link is shared.
  platform.find("links")->find("host")->set("sharing", Value::make(std::string("private")));
  document.set("platform", std::move(platform));
  return read_scenario(std::move(document), network.name);
}

/// Returns the largest difference in seconds between trace and replay, over all starts and ends of actions.
double disagreement(const Plan& plan, const MemoryTrace& trace) {
  std::map<std::pair<std::uint32_t, std::int64_t>, Executed> expected;
  replay(plan, [&](const Executed& e) { expected[{e.action, e.iteration}] = e; });
  REQUIRE(trace.spans.size() == expected.size());
  double worst = 0;
  for (const Span& span : trace.spans) {
    const Executed& e = expected.at({span.action, span.iteration});
    worst = std::max({worst, std::abs(span.start - e.start), std::abs(span.end - e.end)});
  }
  return worst;
}

double moved(const Totals& totals, TensorClass tensor_class) {
  return totals.sums().class_bytes[static_cast<std::size_t>(tensor_class)];
}

void check_trace(const Scenario& scenario, const PolicyCase& policy_case) {
  const std::vector<Stage> stages = stages_of(scenario);
  REQUIRE(stages.size() >= 2);
  std::int64_t weights = 0, flop = 0, saved_and_loaded = 0;
  for (const Stage& stage : stages) {
    weights += stage.weight_bytes;
    flop += stage.flop;
  }
  // Each tensor is saved once, and loaded once for each stage that reads it.
  for (const StageInput& input : stage_inputs(scenario.model, stages))
    if (!input.of_model)
      saved_and_loaded += input.bytes * static_cast<std::int64_t>(1 + input.read_in.size());
  CHECK(flop == scenario.model.flop());
  // GPT-2's last stage has its own copy of the embedding table: 50257 x 768 elements of 2 bytes.
  const std::int64_t copies = scenario.name == "gpt2" ? 2 * 50257 * 768 : 0;
  CHECK(weights == 2 * scenario.model.parameters() + copies);
  // A device that keeps all weights does not need the copy of the table.
  const std::int64_t held = policy_case.weights_times == 1 ? weights - copies : weights;

  const Plan plan = make_plan(scenario);
  check(plan);
  const MemoryTrace trace = execute_isolated(plan);
  Totals totals(plan);
  for (const Span& span : trace.spans) totals.span(span);
  for (const MemoryEvent& event : trace.memory) totals.memory(event);
  REQUIRE(totals.complete());
  CHECK(totals.sums().samples == 12);
  CHECK(totals.sums().flop == 12.0 * static_cast<double>(scenario.model.flop()));
  CHECK(moved(totals, TensorClass::weight) ==
        static_cast<double>(policy_case.weights_times * held));
  CHECK(moved(totals, TensorClass::input) == 12.0 * static_cast<double>(stages[0].input_bytes));
  CHECK(moved(totals, TensorClass::output) ==
        12.0 * static_cast<double>(stages.back().output_bytes));
  CHECK(moved(totals, TensorClass::activation) ==
        (policy_case.saves_boundaries ? 12.0 * static_cast<double>(saved_and_loaded) : 0));
  CHECK(PlanTables(plan).contention_free());
  CHECK(disagreement(plan, trace) <= 1e-9 * trace.report.makespan);
}

TEST_CASE(
    "the trace of a real network has the model's FLOP and bytes, and equals the trace of the "
    "replay") {
  for (const Network& network : networks)
    for (const PolicyCase& policy_case : policy_cases) {
      const std::vector<std::string> cuts = {
          std::string("{cut: explicit, after: ") + network.after + "}", "{cut: balanced, count: 4}",
          std::string("{cut: by_memory, share: ") + network.by_memory + "}"};
      for (const std::string& cut : cuts) {
        INFO(network.name << " " << cut << " " << policy_case.keys);
        check_trace(scenario_of(network, "stages: " + cut + "\n" + policy_case.keys), policy_case);
      }
    }
}

/// Returns the seconds of a run of VGG-16 on an RTX 4090 with 5 GB of memory. A step has 8 batches of `batch` samples.
/// All weights (552 MB) fit beside the other tensors.
double vgg16_seconds(const std::string& policy, int batch, int steps) {
  Value document = parse_text(
      "format: sluice-scenario/1\nworkload: {dtype: float32, batch: " + std::to_string(batch) +
          ", batches_per_step: 8, steps: " + std::to_string(steps) + "}\npolicy: " + policy + "\n",
      "vgg16.yaml");
  const std::string folder = test::source_folder();
  Value use = Value::make_map();
  use.set("definition", load_document(folder + "/models/vgg16.yaml"));
  document.set("model", std::move(use));
  Value platform = load_document(folder + "/platforms/rtx4090.yaml");
  apply_overrides(platform, {"devices.gpu.memory.capacity=5GB"});
  document.set("platform", std::move(platform));
  return replay(make_plan(read_scenario(std::move(document), "vgg16"))).makespan;
}

TEST_CASE("VGG-16 fits into 5 GB: streamed takes what resident takes, the first load included") {
  for (const int batch : {1, 4, 32}) {
    INFO("batches of " << batch);
    CHECK(vgg16_seconds("streamed", batch, 1000) ==
          Approx(vgg16_seconds("resident", batch, 1000)).epsilon(0.001));
    // In a single step, streamed is faster: it computes with the first weights while it loads the others.
    CHECK(vgg16_seconds("streamed", batch, 1) < vgg16_seconds("resident", batch, 1));
  }
}

TEST_CASE("the branches of U-Net cross every cut between its halves") {
  const Scenario scenario = scenario_of(
      networks[2],
      "stages: {cut: explicit, after: [pool2, pool4, both3]}\npolicy: {name: resident}\n");
  const std::vector<Stage> stages = stages_of(scenario);
  REQUIRE(stages.size() == 4);
  // Each element has two bytes. Level i of the network has 256 / 2^i pixels along each axis and 32 x 2^i channels. The
  // decoder reads a branch of each level. The branches of levels 0 and 1 and the output of `pool2` cross the cut after
  // `pool2`. Four branches and the output of `pool4` cross the cut after `pool4`. The branches of levels 0 and 1 and
  // the output of `both3` cross the cut after `both3`, the join of level 2.
  const auto level = [](std::int64_t i) {
    return 2 * (256 >> i) * (256 >> i) * (std::int64_t{32} << i);
  };
  const auto pooled = [&](std::int64_t i) { return level(i - 1) / 4; };
  CHECK(stages[0].output_bytes == level(0) + level(1) + pooled(2));
  CHECK(stages[1].output_bytes == level(0) + level(1) + level(2) + level(3) + pooled(4));
  CHECK(stages[2].output_bytes == level(0) + level(1) + 2 * level(2));
}

}  // namespace
}  // namespace sluice
