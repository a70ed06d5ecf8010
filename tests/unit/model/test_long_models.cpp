// Tests that the work of the program grows only in proportion to the number of layers. The test does not measure
// seconds. But if the work grew faster, the test would exceed its time limit.
#include <catch2/catch.hpp>

#include "document/load.hpp"
#include "execute/feasibility.hpp"
#include "metrics/totals.hpp"
#include "plan/text.hpp"
#include "run/isolated.hpp"
#include "scenario/scenario.hpp"
#include "support/models.hpp"
#include "trace/summary_json.hpp"

namespace sluice {
namespace {

constexpr std::int64_t layers = 20'000;

TEST_CASE("a model of 20000 layers with one stage per layer is planned, checked and executed") {
  const std::string text =
      "format: sluice-scenario/1\n"
      "model: {definition: {format: sluice-model/1, name: long, layers: [\n"
      "  {type: input, name: x, shape: [4, 4]},\n"
      "  {repeat: " +
      std::to_string(layers) +
      ", layers: [{type: matmul, name: m, features: 4}]}]}}\n"
      "platform:\n  format: sluice-platform/1\n  name: small\n  summary: one device\n"
      "  source: made up\n"
      "  devices: {gpu: {rate: {float32: 1GFLOP/s}, memory: {capacity: 4MB}}}\n"
      "  memories: {host: {capacity: unlimited}}\n"
      "  links: {host: {joins: [host, gpu], bandwidth: 1GB/s}}\n"
      "workload: {mode: inference, dtype: float32, batch: 2, batches_per_step: 2, steps: 2}\n"
      "stages: {cut: per_layer}\npolicy: {name: resident}\n";
  const Scenario scenario = read_scenario(parse_text(text, "long.yaml"), "long");
  REQUIRE(stages_of(scenario).size() == layers);
  const Plan plan = make_plan(scenario);
  check(plan);
  // The weights of each layer are loaded once. Each layer runs once for each micro-batch. The answer of each
  // micro-batch is saved.
  std::int64_t loads = 0, forwards = 0, saves = 0;
  for (const Action& action : plan.actions) {
    loads += action.kind == ActionKind::load &&
             plan.tensors[action.flow().tensor].tensor_class == TensorClass::weight;
    saves += action.kind == ActionKind::save;
    forwards += action.kind == ActionKind::forward;
  }
  CHECK(loads == layers);
  CHECK(forwards == layers * saves);
  CHECK(plan_from_text(to_text(plan), "again").actions.size() == plan.actions.size());
  const MemoryTrace trace = execute_isolated(plan);
  Totals totals(plan);
  for (const Span& span : trace.spans) totals.span(span);
  for (const MemoryEvent& event : trace.memory) totals.memory(event);
  REQUIRE(totals.complete());
  CHECK(totals.sums().samples == 8);
  CHECK(totals.sums().flop == 8.0 * layers * 2 * 4 * 16);
  CHECK(totals.sums().class_bytes[static_cast<std::size_t>(TensorClass::weight)] ==
        4.0 * layers * 16);
}

TEST_CASE(
    "in JSON, a metric by stage is a mapping with one key per stage, and a metric by pool and "
    "class is a nested mapping") {
  Summary summary;
  SummaryValue by_stage, by_pool;
  by_stage.kind = by_pool.kind = SummaryValue::Kind::keyed;
  for (std::int64_t i = 0; i < 100'000; ++i)
    by_stage.keyed.push_back({{"m." + std::to_string(i)}, static_cast<double>(i)});
  for (const char* pool : {"gpu", "host"})
    for (const char* word : {"weight", "input"}) by_pool.keyed.push_back({{pool, word}, 1});
  summary.metrics = {{"by_stage", "s", "by stage", by_stage}, {"peak", "byte", "by pool", by_pool}};
  const Value map = json_metrics(summary);
  CHECK(map.find("by_stage")->entries().size() == 100'000);
  CHECK(map.find("by_stage")->entries().back().key == "m.99999");
  CHECK(map.find("by_stage")->entries().back().value.as_number() == 99'999);
  REQUIRE(map.find("peak")->entries().size() == 2);
  CHECK(map.find("peak")->find("host")->find("input")->as_integer() == 1);
}

}  // namespace
}  // namespace sluice
