// Which part of the computation's seconds was measured, by hand.
#include <catch2/catch.hpp>

#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "metrics/metric.hpp"
#include "scenario/scenario.hpp"

namespace sluice {
namespace {

/// A layer of 1 ms without weights and one of 2 ms forward and 4 ms backward with 1000 weights,
/// measured for one sample, on 1 GFLOP/s.
SummaryValue share_of(const std::string& workload, const std::string& cost = "measured") {
  const Scenario scenario = read_scenario(
      parse_text(
          "format: sluice-scenario/1\nmodel:\n  definition:\n    format: sluice-model/1\n    name: "
          "m\n"
          "    measured_batch: 1\n    layers:\n      - {type: input, name: x, shape: [1000]}\n"
          "      - {type: relu, name: a, forward: 1ms}\n"
          "      - {type: dense, name: b, features: 1, bias: false, forward: 2ms, backward: 4ms}\n"
          "platform:\n  format: sluice-platform/1\n  name: p\n"
          "  devices: {gpu: {rate: {float32: 1GFLOP/s}, memory: {capacity: 1MB}}}\n"
          "  memories: {host: {capacity: unlimited}}\n"
          "  links: {host: {joins: [host, gpu], bandwidth: 1GB/s}}\n"
          "policy: {name: resident}\nstages: {cut: per_layer}\ncost: {model: " +
              cost + "}\nworkload: {" + workload + "}\n",
          "m.yaml"),
      "m");
  const Plan plan = make_plan(scenario);
  Totals totals(plan);
  replay(plan, totals);
  return metric_catalog().find("measured_share").value(totals);
}

TEST_CASE("the whole, if every pass was measured") {
  CHECK(share_of("mode: inference, batch: 1").number == Approx(1).epsilon(1e-12));
  CHECK(share_of("mode: training, batch: 1, backward: per_layer, optimizer: none").number ==
        Approx(1).epsilon(1e-12));
}

TEST_CASE(
    "a backward pass that is a multiple of the forward pass was not measured, nor an update") {
  // Forward 1 + 2 ms are measured. The backward pass of b, 2 x 2 ms, is not, and a needs none
  // because no layer before it has weights.
  CHECK(share_of("mode: training, batch: 1, backward: 2, optimizer: none").number ==
        Approx(3.0 / 7).epsilon(1e-12));
  // 1 + 2 + 4 ms are measured; sgd's 2 FLOP for each of 1000 weights take 2 us.
  CHECK(share_of("mode: training, batch: 1, backward: per_layer, optimizer: sgd").number ==
        Approx(7 / 7.002).epsilon(1e-12));
}

TEST_CASE("with another cost model there is no measured share, not even 0") {
  const SummaryValue share = share_of("mode: inference, batch: 1", "peak");
  CHECK_FALSE(share.absent.empty());
}

}  // namespace
}  // namespace sluice
