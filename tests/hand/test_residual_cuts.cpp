// Tests residual networks that are cut in the middle of a block. A tensor crosses a cut if a layer after the cut reads
// it. So the shortcut and the branch of a block cross a cut in the block. All stages together must have the weights and
// FLOP of the model.
#include <catch2/catch.hpp>

#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "metrics/totals.hpp"
#include "plan/tables.hpp"
#include "run/isolated.hpp"
#include "scenario/scenario.hpp"
#include "stage/stage.hpp"
#include "support/models.hpp"

namespace sluice {
namespace {

std::uint32_t layer(const Model& model, const std::string& name) {
  return model.layer_at(parse_text(name, "layer"));
}

/// Returns how many bytes cross a cut after the layer `name`, in float32.
std::int64_t crossing(const Model& model, const std::string& name) {
  const auto last = static_cast<std::uint32_t>(model.layers.size() - 1);
  const auto stages = make_stages(model, {layer(model, name), last}, DType::float32);
  CHECK(stages[0].output_bytes == stages[1].input_bytes);
  return stages[0].output_bytes;
}

TEST_CASE("a cut in ResNet-18's blocks carries the branch and the shortcut") {
  const Model m = load_model(test::zoo + "resnet18.yaml", {});
  // Stage 1 has outputs of 56 x 56 x 64 = 200,704 elements. Stage 2 has outputs of 28 x 28 x 128 = 100,352 elements.
  const std::int64_t wide = 4 * 200704, narrow = 4 * 100352;
  CHECK(crossing(m, "pool1") == wide);              // between two blocks, only one tensor crosses
  CHECK(crossing(m, "conv1.stage1a") == 2 * wide);  // conv1 crosses, and so does pool1: the sum reads it
  CHECK(crossing(m, "relu1.stage1a") == 2 * wide);  // relu1 and pool1 cross, but not norm1
  CHECK(crossing(m, "norm2.stage1a") == 2 * wide);
  CHECK(crossing(m, "sum.stage1a") == wide);             // the shortcut ends at the sum
  CHECK(crossing(m, "conv2.stage2a") == narrow + wide);  // the layer `shortcut` reads relu2.stage1b
  CHECK(crossing(m, "norm2.stage2a") == narrow + wide);
  CHECK(crossing(m, "shortcut.stage2a") == 2 * narrow);  // norm2 and the layer `shortcut` cross
  CHECK(crossing(m, "relu2.stage2a") == narrow);
}

TEST_CASE("in a dense block, all earlier tensors cross once, as one concatenated tensor") {
  const Model m = load_model(test::zoo + "densenet121.yaml", {});
  // There are 56 x 56 = 3,136 pixels, 64 channels before the block, and 32 additional channels per layer.
  CHECK(crossing(m, "pool0") == 4 * 3136 * 64);
  CHECK(crossing(m, "all.block1.1") == 4 * 3136 * 96);
  // the 4 x 32 channels that conv1 makes also cross
  CHECK(crossing(m, "conv1.block1.2") == 4 * 3136 * (96 + 128));
  CHECK(crossing(m, "conv2.block1.2") == 4 * 3136 * (96 + 32));
  CHECK(crossing(m, "all.block1.2") == 4 * 3136 * 128);
}

TEST_CASE(
    "every cut of a residual network keeps the sums of weights, multiply-accumulates and FLOP") {
  for (const char* name : {"resnet18", "squeezenet1_0", "mobilenet_v2", "unet"}) {
    const Model m = load_model(test::zoo + name + ".yaml", {});
    const auto last = static_cast<std::uint32_t>(m.layers.size() - 1);
    for (std::uint32_t cut = 1; cut < last; ++cut) {
      const auto stages = make_stages(m, {cut, last}, DType::float32);
      REQUIRE(stages.size() == 2);
      REQUIRE(stages[0].weight_bytes + stages[1].weight_bytes == 4 * m.parameters());
      REQUIRE(stages[0].macs + stages[1].macs == m.macs());
      REQUIRE(stages[0].flop + stages[1].flop == m.flop());
      // A layer after the cut may read a tensor that crossed the cut, or a tensor that was made after the cut. It may
      // read no other tensor.
      std::int64_t read = 0;
      for (std::uint32_t made = 0; made <= cut; ++made) {
        bool needed = false;
        for (std::uint32_t l = cut + 1; l <= last; ++l)
          for (const std::uint32_t input : m.layers[l].inputs) needed |= input == made;
        if (needed) read += 4 * m.layers[made].output;
      }
      REQUIRE(stages[1].input_bytes == read);
    }
  }
}

TEST_CASE("ResNet-18 cut inside its blocks runs, and its trace has the model's FLOP and weights") {
  for (const char* policy : {"resident", "streamed"}) {
    Value document = parse_text(
        "format: sluice-scenario/1\nplatform:\n  format: sluice-platform/1\n  name: small\n"
        "  summary: one device behind one link\n  source: made up\n"
        "  devices: {gpu: {rate: {float32: 1TFLOP/s}, memory: {capacity: 1GB}}}\n"
        "  memories: {host: {capacity: unlimited}}\n"
        "  links: {host: {joins: [host, gpu], bandwidth: 1GB/s}}\n"
        "workload: {mode: inference, dtype: float32, batch: 2, batches_per_step: 3, steps: 2}\n"
        "stages: {cut: explicit, after: [relu1.stage1a, conv2.stage2a, shortcut.stage3a]}\n"
        "policy: {name: " +
            std::string(policy) + "}\n",
        "s.yaml");
    Value use = Value::make_map();
    use.set("definition", load_document(test::zoo + "resnet18.yaml"));
    document.set("model", std::move(use));
    const Scenario scenario = read_scenario(std::move(document), "residual");
    INFO(policy);
    const Plan plan = make_plan(scenario);
    check(plan);
    const MemoryTrace trace = execute_isolated(plan);
    Totals totals(plan);
    for (const Span& span : trace.spans) totals.span(span);
    for (const MemoryEvent& event : trace.memory) totals.memory(event);
    REQUIRE(totals.complete());
    CHECK(totals.sums().samples == 12);
    CHECK(totals.sums().flop == 12 * scenario.model.flop());
    CHECK(stages_of(scenario).size() == 4);
    CHECK(PlanTables(plan).contention_free());
    CHECK(trace.report.makespan == Approx(replay(plan).makespan).epsilon(1e-9));
  }
}

}  // namespace
}  // namespace sluice
