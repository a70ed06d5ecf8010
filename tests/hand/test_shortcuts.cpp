// If a tensor crosses several cuts, it must be held once and moved once. With 1 GFLOP/s and 1 GB/s, 1e6 FLOP take 1 ms
// and 1 kB takes 1 us.
#include <catch2/catch.hpp>

#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "metrics/totals.hpp"
#include "planning/forward_program.hpp"
#include "run/isolated.hpp"
#include "scenario/scenario.hpp"
#include "stage/stage_inputs.hpp"
#include "support/named_layers.hpp"

namespace sluice {
namespace {

using test::NamedLayer;
using test::random_cut_of;
using test::random_named_layers;
using test::scenario_of;

/// The image has 1 kB. Layers a, b, c, sum and d take 1, 2, 3, 1 and 1 ms. The outputs of layers a, b, c and sum have 2
/// kB each. The output of layer d has 1 kB.
const std::vector<NamedLayer> block = {{"a", 500, 2000, {"image"}},
                                  {"b", 500, 4000, {"a"}},
                                  {"c", 500, 6000, {"b"}},
                                  {"sum", 500, 2000, {"c", "a"}},
                                  {"d", 250, 4000, {"sum"}}};

Approx ms(double value) {
  return Approx(value * 1e-3).epsilon(1e-9);
}

std::int64_t peak(const Plan& plan, const std::string& pool) {
  const ReplayResult result = replay(plan);
  for (std::size_t p = 0; p < plan.pools.size(); ++p)
    if (plan.pools[p].name == pool) return result.peaks[p];
  return -1;
}

std::int64_t sent_bytes(const Plan& plan) {
  std::int64_t bytes = 0;
  for (const Action& action : plan.actions)
    if (action.kind == ActionKind::send) bytes += action.moved_bytes();
  return bytes;
}

double makespan_of(const Plan& plan) {
  check(plan);
  const double replayed = replay(plan).makespan;
  CHECK(execute_isolated(plan).report.makespan == Approx(replayed).epsilon(1e-9));
  return replayed;
}

TEST_CASE(
    "a stage lists the tensors that later stages read, and its output has the bytes of these "
    "tensors") {
  const Scenario scenario =
      scenario_of(block, 250, "stages: {cut: per_layer}\npolicy: {name: resident, buffers: 1}\n");
  const std::vector<Stage> stages = stages_of(scenario);
  REQUIRE(stages.size() == 5);
  // The layers have these numbers: image 0, a 1, b 2, c 3, sum 4, and d 5.
  CHECK(stages[0].crosses == std::vector<Crossing>{{1, 2000}});
  CHECK(stages[1].crosses == std::vector<Crossing>{{1, 2000}, {2, 2000}});
  CHECK(stages[2].crosses == std::vector<Crossing>{{1, 2000}, {3, 2000}});
  CHECK(stages[3].crosses == std::vector<Crossing>{{4, 2000}});
  CHECK(stages[4].crosses == std::vector<Crossing>{{5, 1000}});
  for (const Stage& stage : stages) {
    std::int64_t sum = 0;
    for (const Crossing& crossing : stage.crosses) sum += crossing.bytes;
    CHECK(sum == stage.output_bytes);
  }
}

TEST_CASE(
    "resident: a shortcut is on the device once, from the stage that makes it to the last "
    "stage that reads it") {
  // The device holds 1 + 2 kB while a runs, and 2 + 2 kB while b runs. While c runs, it holds the outputs of a, b and c
  // (6 kB). While the sum runs, it holds the outputs of a, c and the sum (6 kB). While d runs, it holds 2 + 1 kB. If
  // c's input and c's output each had a copy of a's output, the device would hold 4 + 4 kB while c runs.
  const Plan plan = make_plan(
      scenario_of(block, 250, "stages: {cut: per_layer}\npolicy: {name: resident, buffers: 1}\n"));
  CHECK(makespan_of(plan) == ms(0.001 + 8 + 0.001));
  CHECK(peak(plan, "gpu0") == 6000);
}

TEST_CASE("sharded: a tensor is not sent back to the device that made it") {
  // Layers a, sum and d are on gpu0. Layers b and c are on gpu1. The output of layer a is sent to gpu1 (0.002 ms). The
  // output of layer c is sent back (0.002 ms).
  const Plan plan =
      make_plan(scenario_of(block, 250,
                            "stages: {cut: per_layer}\n"
                            "policy: {name: sharded, devices: [gpu0, gpu1, gpu1, gpu0, gpu0]}\n"));
  CHECK(sent_bytes(plan) == 4000);
  CHECK(makespan_of(plan) == ms(0.001 + 1 + 0.002 + 5 + 0.002 + 2 + 0.001));
}

TEST_CASE("sharded: during other computations, a shortcut is sent to the device that reads it") {
  // Layers a and b are on gpu0, and the other layers are on gpu1. Layer c waits for the output of layer b, which is
  // sent in 0.002 ms. The output of layer a (also 0.002 ms) is sent while layer c runs.
  const std::string rest = "policy: {name: sharded, devices: [gpu0, gpu0, gpu1, gpu1, gpu1]";
  const Plan plan = make_plan(scenario_of(block, 250, "stages: {cut: per_layer}\n" + rest + "}\n"));
  CHECK(sent_bytes(plan) == 4000);
  CHECK(makespan_of(plan) == ms(0.001 + 3 + 0.002 + 5 + 0.001));
  // If only one action runs at a time, layer c also waits for the transfer of layer a's output.
  const Plan serial = make_plan(
      scenario_of(block, 250, "stages: {cut: per_layer}\n" + rest + ", overlap: false}\n"));
  CHECK(makespan_of(serial) == ms(0.001 + 3 + 0.002 + 5 + 0.002 + 0.001));
}

/// Returns the bytes of tensors of this class that actions of this kind move.
std::int64_t moved_bytes(const Plan& plan, ActionKind kind, TensorClass tensor_class) {
  std::int64_t bytes = 0;
  for (const Action& action : plan.actions)
    if (action.kind == kind && plan.tensors[action.flow().tensor].tensor_class == tensor_class)
      bytes += action.moved_bytes();
  return bytes;
}

/// A residual network of three stages: a and e, b and c, sum and d. They take 2, 5 and 3 ms. The output of layer a (2 kB)
/// crosses two cuts: only the last stage reads it. The outputs of layers e and c (2 kB each) cross one cut each.
Plan residual(const std::string& extra, const std::vector<std::string>& overrides = {}) {
  const std::vector<NamedLayer> layers = {{"a", 500, 2000, {"image"}},    {"e", 500, 2000, {"a"}},
                                     {"b", 500, 4000, {"e"}},        {"c", 500, 6000, {"b"}},
                                     {"sum", 500, 2000, {"c", "a"}}, {"d", 250, 8000, {"sum"}}};
  return make_plan(scenario_of(
      layers, 250,
      "stages: {cut: explicit, after: [e, c]}\nmemory: {working_set: ignored}\n" + extra,
      overrides));
}

Plan residual_phases(const std::string& activations, const std::string& more = "") {
  return residual("phases: {activations: " + activations +
                  "}\npolicy: {name: phased, in_flight: 1" + more + "}\n");
}

TEST_CASE("phased, activations go through host memory: a shortcut is saved once and loaded once") {
  // One action runs at a time. The image and the answer take 0.001 ms each. The outputs of a, e and c are saved and loaded
  // once each, in 0.002 ms each. As a part of two boundaries, the output of a would be saved and loaded twice.
  const Plan plan = residual_phases("streaming", ", overlap: false");
  CHECK(makespan_of(plan) == ms(0.001 + 2 + 3 * 0.002 + 5 + 3 * 0.002 + 3 + 0.001));
  CHECK(moved_bytes(plan, ActionKind::save, TensorClass::activation) == 6000);
  CHECK(moved_bytes(plan, ActionKind::load, TensorClass::activation) == 6000);
  // The first phase makes 4 kB from the image. The second phase has only its own input and output: 4 kB. The last phase,
  // on gpu0 again, has the outputs of a and c and the answer: 5 kB. The sum inside of the stage is not counted.
  CHECK(peak(plan, "gpu0") == 5000);
  CHECK(peak(plan, "gpu1") == 4000);
}

TEST_CASE(
    "streamed, activations go through host memory: a shortcut is saved once and loaded once") {
  // As above, but all groups are on gpu0, and each group loads its input in one transfer. So the times are the same. Host
  // memory holds the image, the answer, and the outputs of a and e. Then it holds the output of c instead of that of e.
  const Plan plan = residual(
      "policy: {name: streamed, in_flight: 1, overlap: false}\nfates: {strategy: offload_all}\n");
  CHECK(makespan_of(plan) == ms(0.001 + 2 + 3 * 0.002 + 5 + 3 * 0.002 + 3 + 0.001));
  CHECK(moved_bytes(plan, ActionKind::save, TensorClass::activation) == 6000);
  CHECK(moved_bytes(plan, ActionKind::load, TensorClass::activation) == 6000);
  CHECK(peak(plan, "gpu0") == 5000);
  CHECK(peak(plan, "host") == 2000 + 4000);
}

TEST_CASE("streamed, activations stay on the device: a shortcut is held once") {
  // Two micro-batches go through each group, one after the other, and one action runs at a time. While the first group
  // computes the second of them, the device holds its image (1 kB), and the outputs of a and e for both (8 kB). During
  // the second group, it always holds the outputs of a for both (4 kB). It also holds two outputs of e and one of c, and
  // later one of e and two of c: 10 kB together. During the last group, it holds the outputs of a and c for both, and an
  // answer: 9 kB. If the inputs and outputs of the second group had copies of a's output, it would need 12 kB.
  const auto kept = [](const std::string& capacity) {
    return residual(
        "workload: {batch: 2, micro_batch: 1}\nfates: keep_all\n"
        "policy: {name: streamed, in_flight: 2, overlap: false}\n",
        {"platform.devices.gpu.memory.capacity=" + capacity});
  };
  CHECK(makespan_of(kept("10kB")) == ms(2 * (0.001 + 2 + 5 + 3 + 0.001)));
  CHECK(peak(kept("1MB"), "gpu0") == 10'000);
  CHECK_THROWS_AS(check(kept("9999B")), Infeasible);
}

TEST_CASE("phased, activations cross the link between devices: a shortcut is sent at most once") {
  // Layer a and the sum are on gpu0. So only the outputs of e and c are sent.
  CHECK(makespan_of(residual_phases("pair_link")) == ms(0.001 + 2 + 0.002 + 5 + 0.002 + 3 + 0.001));
  CHECK(sent_bytes(residual_phases("pair_link")) == 4000);
  // On one device, nothing is sent.
  CHECK(sent_bytes(residual_phases("pair_link", ", device: gpu1")) == 0);
}

TEST_CASE("phased, activations move in no time: a shortcut is held once, where it was made") {
  // In the second phase, gpu0 holds the outputs of a and e, and gpu1 holds the output of c. In the last phase, gpu0 holds
  // the output of a and the answer.
  const Plan plan = residual_phases("on_chip", ", overlap: false");
  CHECK(makespan_of(plan) == ms(0.001 + 10 + 0.001));
  CHECK(peak(plan, "gpu0") == 5000);
  CHECK(peak(plan, "gpu1") == 2000);
}

// The output of layer a (2 kB) is sent from gpu0 to gpu1, and then gpu2 needs it, too. Both devices could send it there.
// The one with the faster link does: in 0.002 ms instead of 0.008 ms. Layers a, b and sum take 1, 2 and 1 ms.
TEST_CASE(
    "of the devices that hold a tensor, the one with the fastest path sends it to the next device") {
  const std::vector<NamedLayer> layers = {
      {"a", 500, 2000, {"image"}}, {"b", 500, 4000, {"a"}}, {"sum", 500, 2000, {"b", "a"}}};
  const std::string three = "stages: {cut: per_layer}\nmemory: {working_set: ignored}\n";
  for (const std::string way :
       {"policy: {name: sharded, devices: [gpu0, gpu1, gpu2], overlap: false}\n",
        "phases: {activations: pair_link, devices: [gpu0, gpu1, gpu2]}\n"
        "policy: {name: phased, in_flight: 1, overlap: false}\n"}) {
    const auto with_links = [&](const std::string& from0_to2, const std::string& from1_to2) {
      const auto link = [](const std::string& joins, const std::string& bandwidth) {
        return "{joins: [" + joins + "], bandwidth: " + bandwidth + "}";
      };
      return makespan_of(make_plan(scenario_of(
          layers, 250, three + way,
          {"platform.devices.gpu.count=3", "platform.links={host: " + link("host, gpu", "1GB/s") +
                                               ", a: " + link("gpu0, gpu1", "1GB/s") +
                                               ", b: " + link("gpu0, gpu2", from0_to2) +
                                               ", c: " + link("gpu1, gpu2", from1_to2) + "}"})));
    };
    INFO(way);
    CHECK(with_links("1GB/s", "0.25GB/s") == ms(0.001 + 1 + 0.002 + 2 + 0.008 + 0.002 + 1 + 0.002));
    CHECK(with_links("0.25GB/s", "1GB/s") == ms(0.001 + 1 + 0.002 + 2 + 0.002 + 0.002 + 1 + 0.002));
  }
}

/// Runs a plan, adds its sums to `totals`, and checks that all actions and `samples` samples end. With `both`, the other
/// executor runs the plan, too.
void check_run(const Plan& plan, Totals& totals, std::int64_t samples, bool both) {
  check(plan);
  const double makespan = replay(plan, totals).makespan;
  CHECK(totals.complete());
  CHECK(totals.sums().samples == samples);
  if (both) CHECK(execute_isolated(plan).report.makespan == Approx(makespan).epsilon(1e-9));
}

TEST_CASE(
    "random graphs with random cuts: both executors compute all layers, and hold and free "
    "all tensors") {
  test::Dice dice(311);
  for (int i = 0; i < 60; ++i) {
    const std::vector<NamedLayer> layers = random_named_layers(dice);
    const std::string cut = random_cut_of(dice, layers);
    const std::string workload = "workload: {batch: 2, micro_batch: 1, batches_per_step: 2}\n";
    INFO("case " << i << ", " << cut);
    const int image = 1 + static_cast<int>(dice.below(300));
    for (const char* policy : {"resident", "resident, overlap: false", "sharded"}) {
      const Scenario scenario = scenario_of(
          layers, image, workload + cut + "policy: {name: " + std::string(policy) + "}\n");
      const Plan plan = make_plan(scenario);
      Totals totals(plan);
      check_run(plan, totals, 4, i % 6 == 0);
      CHECK(totals.sums().flop == 4.0 * static_cast<double>(scenario.model.flop()));
      // If actions run one at a time, the run and the program of the round have the same peak.
      if (std::string(policy) != "resident, overlap: false") continue;
      const std::vector<Stage> stages = stages_of(scenario);
      const PolicyRequest request{
          {scenario.model, stages, scenario.platform, *scenario.cost, scenario.workload.dtype},
          scenario.workload};
      const Program program = forward_program(
          request, {.devices = std::vector<std::string>(stages.size(), "gpu0"), .buffers = 1});
      CHECK(peak(plan, "gpu0") == program.peak());
    }
  }
}

TEST_CASE(
    "phased and streamed, random graphs with random cuts: each tensor is saved once, and loaded "
    "once for each stage that reads it") {
  test::Dice dice(312);
  for (int i = 0; i < 40; ++i) {
    const std::vector<NamedLayer> layers = random_named_layers(dice);
    const std::string cut = random_cut_of(dice, layers);
    const std::string settings =
        "workload: {batch: 2, micro_batch: 1, batches_per_step: 3, steps: 2}\n" + cut;
    const std::string policy = std::string(", in_flight: ") + (dice.one_in(2) ? "2" : "3") +
                               (dice.one_in(3) ? ", overlap: false" : "") + "}\n";
    const int image = 1 + static_cast<int>(dice.below(300));
    for (const std::string activations : {"on_chip", "pair_link", "streaming", "offload_all"}) {
      const bool streamed = activations == "offload_all";
      const std::string way =
          streamed ? "fates: {strategy: offload_all}\npolicy: {name: streamed"
                   : "phases: {activations: " + activations + "}\npolicy: {name: phased";
      INFO("case " << i << ", " << settings << way << policy);
      const Scenario scenario = scenario_of(layers, image, settings + way + policy);
      const Plan plan = make_plan(scenario);
      Totals totals(plan);
      check_run(plan, totals, 12, i % 6 == 0);
      std::int64_t saved = 0, loaded = 0, inputs = 0;
      for (const StageInput& input : stage_inputs(scenario.model, stages_of(scenario))) {
        const std::int64_t bytes = 12 * input.bytes;
        const bool first = input.read_in.front() == 0;
        const auto readers = static_cast<std::int64_t>(input.read_in.size());
        if (!input.of_model) saved += bytes;
        if (!input.of_model) loaded += bytes * readers;
        if (input.of_model) inputs += streamed ? bytes : bytes * readers;
        // Under streamed, the first group also saves the inputs of the model that later groups read.
        if (input.of_model && streamed && (!first || readers > 1)) {
          saved += bytes;
          loaded += bytes * (first ? readers - 1 : readers);
        }
      }
      const auto bytes_of = [&](TensorClass tensor_class) {
        return totals.sums().class_bytes[static_cast<std::size_t>(tensor_class)];
      };
      if (streamed || activations == "streaming") {
        CHECK(bytes_of(TensorClass::activation) == static_cast<double>(saved + loaded));
        CHECK(bytes_of(TensorClass::input) == static_cast<double>(inputs));
      } else {
        CHECK(bytes_of(TensorClass::activation) <= static_cast<double>(loaded));
      }
    }
  }
}

/// Returns the most bytes on the device if `count` micro-batches go through each stage: each tensor is there from the stage
/// that makes it to the last stage that reads it. The first stage also makes copies of inputs that later stages read.
std::int64_t most_kept(const Scenario& scenario, const std::vector<Stage>& stages,
                       std::int64_t count) {
  std::int64_t most = 0;
  for (std::size_t s = 0; s < stages.size(); ++s)
    for (std::int64_t m = 0; m < count; ++m) {
      std::int64_t bytes =
          stages[s].workspace_bytes + stages[s].answer_bytes + (s == 0 ? stages[s].input_bytes : 0);
      for (const StageInput& tensor :
           stage_inputs(scenario.model, stages, EarlierAnswers::left_out))
        for (std::int64_t q = 0; q < count; ++q) {
          const std::size_t last = tensor.read_in.back();
          const bool made = tensor.made_in < s || (tensor.made_in == s && q <= m);
          if (made && last > 0 && (last > s || (last == s && q >= m))) bytes += tensor.bytes;
        }
      most = std::max(most, bytes);
    }
  return most;
}

TEST_CASE(
    "streamed, random graphs with random cuts: activations that stay on the device need as many bytes as counted") {
  test::Dice dice(313);
  for (int i = 0; i < 40; ++i) {
    const std::vector<NamedLayer> layers = random_named_layers(dice);
    const std::string cut = random_cut_of(dice, layers);
    const std::int64_t in_flight = 1 + static_cast<std::int64_t>(dice.below(3));
    const int image = 1 + static_cast<int>(dice.below(300));
    const auto within = [&](std::int64_t bytes) {
      return scenario_of(layers, image,
                         "workload: {batch: 3, micro_batch: 1, steps: 2}\nfates: keep_all\n" + cut +
                             "policy: {name: streamed, overlap: false, in_flight: " +
                             std::to_string(in_flight) + "}\n",
                         {"platform.devices.gpu.memory.capacity=" + std::to_string(bytes) + "B"});
    };
    const Scenario large = within(1'000'000);
    const std::int64_t most = most_kept(large, stages_of(large), in_flight);
    INFO("case " << i << ", " << cut << ", in flight " << in_flight);
    const Plan plan = make_plan(within(most));
    Totals totals(plan);
    check_run(plan, totals, 6, i % 6 == 0);
    CHECK(peak(plan, "gpu0") == most);
    CHECK_THROWS_AS(check(make_plan(within(most - 1))), Infeasible);
  }
}

}  // namespace
}  // namespace sluice
