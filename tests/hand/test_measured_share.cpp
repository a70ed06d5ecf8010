// Tests which share of the computation's seconds comes from measured passes. The shares are calculated by hand.
#include <catch2/catch.hpp>

#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "metrics/metric.hpp"
#include "scenario/scenario.hpp"
#include "study/answer/asked.hpp"

namespace sluice {
namespace {

/// Two layers were measured for one sample. Layer a takes 1 ms and has no weights. Layer b takes 2 ms forward and 4 ms
/// backward, and has 1000 weights. The device has 1 GFLOP/s.
Scenario scenario_of(const std::string& workload, const std::string& cost) {
  return read_scenario(
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
}

SummaryValue share_of(const std::string& workload, const std::string& cost = "measured") {
  const Plan plan = make_plan(scenario_of(workload, cost));
  Totals totals(plan);
  replay(plan, totals);
  return metric_catalog().find("measured_share").value(totals);
}

TEST_CASE("the measured share is 1 if every pass was measured") {
  CHECK(share_of("mode: inference, batch: 1").number == Approx(1).epsilon(1e-12));
  CHECK(share_of("mode: training, batch: 1, backward: per_layer, optimizer: none").number ==
        Approx(1).epsilon(1e-12));
}

TEST_CASE(
    "neither an update nor a backward pass that is computed as a multiple of the forward pass "
    "counts as measured") {
  // The forward passes of 1 + 2 ms were measured. The backward pass of b takes 2 x 2 ms and was not measured. Layer a
  // needs no backward pass, because it has no weights and is the first layer.
  CHECK(share_of("mode: training, batch: 1, backward: 2, optimizer: none").number ==
        Approx(3.0 / 7).epsilon(1e-12));
  // Passes of 1 + 2 + 4 ms were measured. The update by sgd takes 2 FLOP for each of 1000 weights, and so 2 us.
  CHECK(share_of("mode: training, batch: 1, backward: per_layer, optimizer: sgd").number ==
        Approx(7 / 7.002).epsilon(1e-12));
}

TEST_CASE(
    "by default, backward passes have their own seconds if the cost model knows these seconds") {
  const std::string training = "mode: training, batch: 1, optimizer: none";
  CHECK(share_of(training).number == Approx(1).epsilon(1e-12));
  CHECK_FALSE(scenario_of(training, "measured").workload.training->backward);
  CHECK_FALSE(scenario_of(training, "fitted").workload.training->backward);
  CHECK(scenario_of(training, "peak").workload.training->backward == 2);
  CHECK(scenario_of(training + ", backward: 3", "fitted").workload.training->backward == 3);
  CHECK_FALSE(scenario_of(training + ", backward: per_layer", "peak").workload.training->backward);
  // A variant of the scenario may name another cost model. Then the default for `backward` comes from the cost model of
  // the variant.
  const Scenario other =
      with_other_prices(scenario_of(training, "peak"), "m.yaml", {"cost.model=measured"});
  CHECK_FALSE(other.workload.training->backward);
  CHECK(with_other_prices(other, "m.yaml", {"cost.model=peak"}).workload.training->backward == 2);
}

TEST_CASE("the answer says which share of the seconds is a multiple of measured forward passes") {
  const auto account = [](const std::string& backward) {
    return account_of(
        scenario_of("mode: training, batch: 1, optimizer: none" + backward, "measured"));
  };
  CHECK(account("").measured == 1);
  CHECK(account_text(account("")).empty());
  // The forward passes take 1 + 2 ms, and only the layer of 2 ms has a backward pass. With
  // `backward: 2`, the backward pass takes 2 x 2 = 4 ms of the 7 ms of the step.
  CHECK(account(", backward: 2").multiple == Approx(4.0 / 7).epsilon(1e-12));
  CHECK(account(", backward: 2").measured == Approx(3.0 / 7).epsilon(1e-12));
  CHECK(account_text(account(", backward: 2")).find("workload.backward=per_layer") !=
        std::string::npos);
}

TEST_CASE(
    "with a cost model that does not measure, the measured share has no value instead of the "
    "value 0") {
  const SummaryValue share = share_of("mode: inference, batch: 1", "peak");
  CHECK_FALSE(share.absent.empty());
}

}  // namespace
}  // namespace sluice
