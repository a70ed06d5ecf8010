// Tests that every entry of every catalog has a complete record and works on small models. The tests go over all
// entries, so new entries are tested without a change of this file. A hand calculation for a new entry belongs in
// another file.
#include <catch2/catch.hpp>

#include <cmath>
#include <set>

#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "metrics/metric.hpp"
#include "model/catalog.hpp"
#include "plan/tables.hpp"
#include "plan/text.hpp"
#include "run/isolated.hpp"
#include "scenario/scenario.hpp"
#include "support/small_case.hpp"
#include "trace/memory_sink.hpp"

namespace sluice {
namespace {

/// Checks that each entry has a text `details`, which helps users to choose among the entries.
template <class Entry>
void check_details(const Catalog<Entry>& catalog) {
  for (const Entry* entry : catalog.entries()) {
    INFO(catalog.kind() << " " << entry->name);
    CHECK(entry->details.size() > 100);
    CHECK(entry->details.back() == '.');
  }
}

template <class Entry>
void check_records(const Catalog<Entry>& catalog) {
  std::set<std::string> names;
  for (const Entry* entry : catalog.entries()) {
    INFO(catalog.kind() << " " << entry->name);
    CHECK(names.insert(entry->name).second);
    CHECK(entry->summary.size() > 10);
    CHECK(entry->summary.back() == '.');
    CHECK_FALSE(entry->source.empty());
    if constexpr (requires { entry->example; }) CHECK_FALSE(entry->example.empty());
    if constexpr (requires { entry->parameters; })
      for (const Field& field : entry->parameters) {
        INFO("parameter " << field.name);
        CHECK_FALSE(field.summary.empty());
      }
  }
  CHECK(names.size() >= 2);
}

TEST_CASE("every record of every catalog is complete") {
  check_records(policy_catalog());
  check_records(layer_catalog());
  check_records(cost_catalog());
  check_records(cut_catalog());
  check_records(fate_catalog());
  check_records(optimizer_catalog());
  check_records(metric_catalog());
  check_details(policy_catalog());
  check_details(cost_catalog());
  check_details(cut_catalog());
  check_details(fate_catalog());
  check_details(optimizer_catalog());
}

const std::vector<test::Row> rows = {
    {1, 100'000, 2000}, {2, 200'000, 3000}, {3, 300'000, 1000}, {1, 0, 1000}};

/// Returns a scenario with the given keys. Its platform has two devices with limited memories. The two devices share
/// one link to the host, and are joined by another link.
Scenario scenario_with(const std::string& keys) {
  return test::small_scenario(1000, rows, "workload: {batches_per_step: 3, steps: 3}\n" + keys,
                              {"platform.devices.gpu={count: 2, rate: {float32: 1GFLOP/s}, memory: "
                               "{capacity: 1MB, bandwidth: "
                               "1GB/s}, launch_overhead: 1us, idle: 10W, busy: 100W}",
                               "platform.links={host: {joins: [host, gpu], bandwidth: 1GB/s, "
                               "setup: 1us, latency: 2us}, pair: "
                               "{joins: [gpu0, gpu1], bandwidth: 1GB/s}}"});
}

TEST_CASE("every policy makes a plan that fits, is executed, and does the model's work") {
  for (const Policy* policy : policy_catalog().entries())
    for (const char* overlap : {"true", "false"}) {
      std::string keys = "policy: {name: " + policy->name;
      const auto is_overlap = [](const Field& field) { return field.name == "overlap"; };
      const auto& fields = policy->parameters;
      if (policy->replicates || std::any_of(fields.begin(), fields.end(), is_overlap))
        keys += std::string(", overlap: ") + overlap;
      if (policy->name == "data_parallel") keys += ", replica: resident";
      const Plan plan = make_plan(
          scenario_with("cost: {model: peak}\nstages: {cut: per_layer}\n" + keys + "}\n"));
      INFO(policy->name << ", overlap " << overlap);
      check(plan);
      CHECK(to_text(plan_from_text(to_text(plan), "again")) == to_text(plan));
      const MemoryTrace trace = execute_isolated(plan);
      Totals totals(plan);
      for (const Span& span : trace.spans) totals.span(span);
      for (const MemoryEvent& event : trace.memory) totals.memory(event);
      CHECK(totals.complete());
      CHECK(totals.sums().samples == 9);
      CHECK(totals.sums().flop == Approx(9 * 7e6));  // 9 samples of 1 + 2 + 3 + 1 ms
      // The platform has a launch overhead, but the cost model `peak` does not add it.
      CHECK(totals.sums().compute_s == Approx(9 * 7e-3));
      CHECK(trace.report.makespan >= totals.bound().seconds * (1 - 1e-12));
      if (PlanTables(plan).contention_free())
        CHECK(trace.report.makespan == Approx(replay(plan).makespan).epsilon(1e-9));
      for (const Pool& pool : plan.pools)
        if (pool.limited())
          CHECK(totals.pools()[static_cast<std::size_t>(&pool - plan.pools.data())].peak_bytes <=
                *pool.capacity);
    }
}

TEST_CASE("the stages of every cut have each layer once, in order") {
  for (const Cut* cut : cut_catalog().entries()) {
    INFO(cut->name);
    std::string keys = "stages: {cut: " + cut->name;
    if (cut->name == "explicit") keys += ", after: [3]";
    if (cut->name == "balanced") keys += ", count: 2";
    if (cut->name == "by_weight") keys += ", groups: 3, split: false";
    const Scenario scenario = scenario_with(keys + "}\npolicy: {name: resident}\n");
    std::uint32_t next = 0;
    std::int64_t flop = 0, weights = 0;
    for (const Stage& stage : stages_of(scenario)) {
      CHECK(stage.first == next);
      CHECK(stage.last >= stage.first);
      next = stage.last + 1;
      flop += stage.flop;
      weights += stage.weight_bytes;
    }
    CHECK(next == scenario.model.layers.size());
    CHECK(flop == scenario.model.flop());
    CHECK(weights == 4 * scenario.model.parameters());
  }
}

TEST_CASE("a cut that says that it ignores prices gives the same stages on another machine") {
  int ignoring = 0;
  for (const Cut* cut : cut_catalog().entries()) {
    if (!cut->ignores_prices) continue;
    INFO(cut->name);
    ++ignoring;
    std::string keys = "stages: {cut: " + cut->name;
    if (cut->name == "explicit") keys += ", after: [3]";
    if (cut->name == "by_weight") keys += ", groups: 3, split: false";
    const Scenario scenario = scenario_with(keys + "}\npolicy: {name: resident}\n");
    for (const double factor : {1e-3, 1e3}) {
      Scenario other = scenario;
      for (Device& device : other.platform.devices)
        for (auto& [dtype, rate] : device.rate) rate *= factor;
      for (Channel& channel : other.platform.channels) channel.bandwidth /= factor;
      CHECK(same(cut_model(scenario), cut_model(other)));
    }
  }
  CHECK(ignoring >= 5);
}

TEST_CASE("every cost model gives finite seconds that grow with the number of samples") {
  const Scenario scenario = scenario_with("policy: {name: resident}\n");
  Device device = scenario.platform.devices.front();
  device.units = 10;
  device.cache = 1000000;
  for (const CostModel* cost : cost_catalog().entries()) {
    const bool fits = cost->name == "fitted";
    const ChosenCost chosen = choose_cost(
        parse_text("{model: " + cost->name +
                       (fits ? ", file: gpus_float32, unfitted: roofline}" : std::string("}")),
                   "s.yaml"),
        "", scenario.platform);
    for (const Layer& layer : scenario.model.layers) {
      INFO(cost->name << ", " << layer.name);
      const auto seconds = [&](std::int64_t samples) {
        Model model = scenario.model;  // below, the layer gets measured seconds: 1 ms per sample
        Layer measured = layer;
        model.measured_batch = samples;
        measured.forward_s = 1e-3 * static_cast<double>(samples);
        return chosen->of(query_of(model, measured, Pass::forward, samples, DType::float32, device))
            .seconds;
      };
      CHECK(std::isfinite(seconds(1)));
      CHECK(seconds(1) >= 0);
      CHECK(seconds(4) >= seconds(1));
    }
  }
}

}  // namespace
}  // namespace sluice
