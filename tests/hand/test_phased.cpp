// Compares phased execution with formulas of the document 'PopART phased execution'. A layer multiplies an activation
// of b D x D elements by weights of D x D elements, in C = 2 b D^3 / rate seconds. The weights take W = 2 D^2 /
// bandwidth seconds. An activation takes A = 2 b D^2 / bandwidth seconds to or from streaming memory. Over the link
// between the two devices, an activation takes P seconds. I/O is the seconds of the transfers of a phase. In the steady
// state, a phase takes max(I/O, C). If transfers and computation take turns, a phase takes I/O + C.
#include <catch2/catch.hpp>

#include "base/quantity.hpp"
#include "execute/feasibility.hpp"
#include "run/isolated.hpp"
#include "support/phase_times.hpp"

namespace sluice {
namespace {

using test::ipu_pair;
using test::steady_phase;

/// The seconds C, W, A and P at one rate. The first comment of this file explains these letters.
struct Times {
  double C, W, A, P;
};

constexpr double bandwidth = 32e9, pair_bandwidth = 160e9;

Times times(double rate, double tiles_left, double size = 250, double batch = 32, double k = 1) {
  return {k * 2 * batch * size * size * size / (rate * tiles_left), 2 * size * size / bandwidth,
          2 * batch * size * size / bandwidth, 2 * batch * size * size / pair_bandwidth};
}

std::vector<std::string> with(std::vector<std::string> all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Approx s(double seconds) {
  return Approx(seconds).epsilon(1e-9);
}

/// Runs `check` for 2 and 3 layers, with and without I/O tiles, at three rates. At 2 TFLOP/s, C is the longest time. At
/// 250 TFLOP/s, C is close to W. At 250,000 TFLOP/s, every transfer takes longer than C.
template <class Check>
void in_every_regime(Check&& check) {
  for (int layers : {2, 3})
    for (int io_tiles : {0, 128})
      for (double rate : {250e12, 2e12, 250e15}) {
        const std::vector<std::string> overrides = {
            "model.layers=" + std::to_string(layers),
            "platform.devices.ipu.io_tiles=" + std::to_string(io_tiles),
            "platform.devices.ipu.rate.float16=" + std::to_string(rate / 1e12) + "TFLOP/s"};
        INFO(layers << " layers, " << io_tiles << " I/O tiles, " << rate << " FLOP/s");
        check(layers, times(rate, 1 - io_tiles / 1472.0), overrides);
      }
}

double phase(const std::vector<std::string>& overrides, int layers) {
  return steady_phase(make_plan(ipu_pair(overrides)), static_cast<std::size_t>(6 * layers));
}

TEST_CASE(
    "the PopART document's defaults: a phase has 1.0e9 FLOP, 125,000 B of weights and 8,000 FLOP/B") {
  const Scenario scenario = ipu_pair({});
  const Plan plan = make_plan(scenario);
  for (const Action& action : plan.actions) {
    if (!action.is_transfer()) CHECK(action.flop == 1.0e9);
    if (action.is_transfer() &&
        plan.tensors[action.flow().tensor].tensor_class == TensorClass::weight)
      CHECK(action.moved_bytes() == 125'000);
  }
  CHECK(1.0e9 / 125'000 == 8000);
}

TEST_CASE(
    "phased, only weights are transferred: a phase takes max(W, C), or W + C without overlap "
    "and on demand") {
  in_every_regime([](int layers, const Times& t, const std::vector<std::string>& regime) {
    const auto synthetic = with(regime, {"policy.host_data=synthetic"});
    CHECK(phase(synthetic, layers) == s(std::max(t.W, t.C)));
    CHECK(phase(with(synthetic, {"policy.overlap=false"}), layers) == s(t.W + t.C));
    CHECK(phase(with(synthetic, {"policy.weights=on_demand"}), layers) == s(t.W + t.C));
  });
}

TEST_CASE(
    "phased, weights are loaded once per phase for all batches of a step: a phase takes "
    "max(W, 12 C), or W + 12 C without overlap") {
  in_every_regime([](int layers, const Times& t, const std::vector<std::string>& regime) {
    const auto once = with(
        regime, {"policy.host_data=synthetic", "policy.weights_per=step", "workload.steps=24"});
    CHECK(phase(once, layers) == s(std::max(t.W, 12 * t.C)));
    CHECK(phase(with(once, {"policy.overlap=false"}), layers) == s(t.W + 12 * t.C));
  });
}

TEST_CASE(
    "phased: if activations cross the pair's link while weights are loaded, a phase takes "
    "max(W, P, C)") {
  // After each phase, a batch goes to the other device. Three batches are in flight. Between two phases of one batch,
  // each of the other two batches has one phase. The phases of the first layer receive no activation.
  in_every_regime([](int layers, const Times& t, const std::vector<std::string>& regime) {
    const auto pair = with(regime, {"policy.host_data=synthetic", "phases.activations=pair_link",
                                    "policy.in_flight=3"});
    const double first = std::max(t.W, t.C), later = std::max({t.W, t.P, t.C});
    CHECK(phase(pair, layers) == s((first + (layers - 1) * later) / layers));
    CHECK(phase(with(pair, {"policy.overlap=false", "policy.in_flight=1"}), layers) ==
          s(t.W + t.C + t.P * (layers - 1) / layers));
  });
}

TEST_CASE("phased, activations go through streaming memory: a phase takes max(I/O, C)") {
  // Two batches take turns. While one device computes, the other device saves its activation (up, A seconds) and loads
  // weights (down, W seconds) at the same time. Then the other device loads the activation of its next phase (A
  // seconds). So I/O = max(W, A) + A.
  in_every_regime([](int layers, const Times& t, const std::vector<std::string>& regime) {
    const auto streaming = with(regime, {"policy.host_data=synthetic",
                                         "phases.activations=streaming", "policy.in_flight=2"});
    const double first = std::max(t.W, t.C), later = std::max(std::max(t.W, t.A) + t.A, t.C);
    CHECK(phase(streaming, layers) == s((first + (layers - 1) * later) / layers));
    CHECK(phase(with(streaming, {"policy.overlap=false"}), layers) ==
          s(t.W + t.C + 2 * t.A * (layers - 1) / layers));
  });
}

TEST_CASE(
    "phased, weights are loaded once per phase: activations follow batch by batch, and computation "
    "does not hide the last activation") {
  // There are 12 batches per phase. Each batch is sent on as soon as it is computed, and the next phase starts when the
  // last batch has arrived. If activations cross the pair's link, each batch is computed (C) and sent (P). The phase
  // takes C + P + 11 max(C, P). If they go through streaming memory, each batch is computed (C), saved (A) and loaded
  // (A). The phase takes C + 2 A + 11 max(C, A). The phases of the first layer wait only for weights.
  in_every_regime([](int layers, const Times& t, const std::vector<std::string>& regime) {
    const auto once = with(
        regime, {"policy.host_data=synthetic", "policy.weights_per=step", "workload.steps=24"});
    const double first = std::max(t.W, 12 * t.C);
    const double pair = std::max(t.W, t.C + t.P + 11 * std::max(t.C, t.P));
    const double streaming = std::max(t.W, t.C + 2 * t.A + 11 * std::max(t.C, t.A));
    const auto mean = [&](double later) { return (first + (layers - 1) * later) / layers; };
    CHECK(phase(with(once, {"phases.activations=pair_link"}), layers) == s(mean(pair)));
    CHECK(phase(with(once, {"phases.activations=streaming"}), layers) == s(mean(streaming)));
    const auto serial = with(once, {"policy.overlap=false"});
    const double share = 12.0 * (layers - 1) / layers;
    CHECK(phase(with(serial, {"phases.activations=pair_link"}), layers) ==
          s(t.W + 12 * t.C + t.P * share));
    CHECK(phase(with(serial, {"phases.activations=streaming"}), layers) ==
          s(t.W + 12 * t.C + 2 * t.A * share));
  });
}

TEST_CASE(
    "phased, one batch at a time: computation cannot hide the transfer of the batch's "
    "activations") {
  // The computation hides the load of the weights. If activations go over the link of the pair, a phase takes C + P. If
  // they go through streaming memory, it takes C + 2 A.
  for (int layers : {2, 3}) {
    const Times t = times(2e12, 1 - 128 / 1472.0);
    const std::vector<std::string> one = {"model.layers=" + std::to_string(layers),
                                          "platform.devices.ipu.rate.float16=2TFLOP/s",
                                          "policy.host_data=synthetic", "policy.in_flight=1"};
    const double share = (layers - 1.0) / layers;
    CHECK(phase(with(one, {"phases.activations=pair_link"}), layers) == s(t.C + t.P * share));
    CHECK(phase(with(one, {"phases.activations=streaming"}), layers) == s(t.C + 2 * t.A * share));
  }
}

TEST_CASE("phased: if a round is a single phase, its answers are saved during the next round") {
  // One device computes one layer for 48 batches. The computation hides the loads of the next phase and the saves of the
  // previous phase. So the run takes W + A + 48 C + A, also if a phase computes two micro-batches.
  const Times t = times(2e12, 1 - 128 / 1472.0);
  REQUIRE(t.C > t.W + t.A);
  for (const char* micro_batch : {"32", "16"}) {
    const Plan plan = make_plan(ipu_pair(
        {"model.layers=1", "policy.device=ipu0", "platform.devices.ipu.rate.float16=2TFLOP/s",
         std::string("workload.micro_batch=") + micro_batch, "policy.in_flight=1"}));
    CHECK(execute_isolated(plan).report.makespan == s(t.W + t.A + 48 * t.C + t.A));
  }
}

TEST_CASE("phased, real inputs and answers join the I/O of the first and the last layer") {
  // The first layer loads weights and an input, in W + A seconds. The device that computed the last layer saves the
  // answer (up, A seconds) during the loads of its next phase. Two devices take turns, phase by phase. So with 3
  // layers, this next phase computes the second layer. With 2 layers, this next phase computes the last layer again.
  in_every_regime([](int layers, const Times& t, const std::vector<std::string>& regime) {
    const double first = std::max(t.W + t.A, t.C), saving = std::max({t.W, t.A, t.C}),
                 plain = std::max(t.W, t.C);
    const double expected = layers == 2 ? (first + saving) / 2 : (first + saving + plain) / 3;
    CHECK(phase(with(regime, {"policy.in_flight=1"}), layers) == s(expected));
  });
}

TEST_CASE(
    "in ping-pong, only one device at a time uses the host link, so a shared link takes as long as "
    "private links") {
  for (const char* place : {"on_chip", "pair_link", "streaming"})
    for (const char* data : {"synthetic", "real"})
      for (double rate : {2.0, 250.0, 250000.0}) {
        INFO(place << ", " << data << ", " << rate << " TFLOP/s");
        const std::vector<std::string> overrides = {
            std::string("phases.activations=") + place, std::string("policy.host_data=") + data,
            "platform.devices.ipu.rate.float16=" + std::to_string(rate) + "TFLOP/s"};
        CHECK(phase(with(overrides, {"platform.links.host.sharing=private"}), 3) ==
              s(phase(with(overrides, {"platform.links.host.sharing=shared"}), 3)));
      }
}

TEST_CASE(
    "data-parallel phases load at the same time, so a shared link halves the bandwidth of "
    "each device") {
  // Each of the two devices runs all phases, and only weights are loaded. If each device has its own link, a phase
  // takes max(W, C). If the devices share a link, a phase takes max(2 W, C).
  for (double rate : {2e12, 250e12, 250e15}) {
    const Times t = times(rate, 1 - 128 / 1472.0);
    for (const bool shared : {false, true}) {
      const Scenario scenario =
          ipu_pair({"policy={name: data_parallel, replica: phased, host_data: synthetic}",
                    "platform.devices.ipu.rate.float16=" + std::to_string(rate / 1e12) + "TFLOP/s",
                    std::string("platform.links.host.sharing=") + (shared ? "shared" : "private")});
      CHECK(steady_phase(make_plan(scenario), 9, "ipu0") ==
            s(std::max(shared ? 2 * t.W : t.W, t.C)));
    }
  }
}

TEST_CASE(
    "if only weights are transferred, computation hides the loads up to a rate of k x batch "
    "x size x bandwidth") {
  // One load of weights serves k batches. The computation of these k batches takes as long as the load if rate = k x
  // batch x size x bandwidth. At 0.1 % less than this rate, computation binds. At 0.1 % more, I/O binds.
  for (double size : {118.0, 234.0, 250.0, 400.0})
    for (double batch : {8.0, 32.0})
      for (double k : {1.0, 4.0})
        for (double side : {0.999, 1.001}) {
          const double tiles_left = 1 - 128 / 1472.0;
          const double rate = k * batch * size * bandwidth / tiles_left * side;
          INFO(size << " x " << batch << " x " << k << " x " << side);
          std::vector<std::string> overrides = {
              "model.size=" + std::to_string(static_cast<int>(size)),
              "workload.batch=" + std::to_string(static_cast<int>(batch)),
              "policy.host_data=synthetic",
              "platform.devices.ipu.rate.float16=" + exact(rate / 1e12) + "TFLOP/s"};
          if (k > 1)
            overrides = with(overrides,
                             {"policy.weights_per=step", "workload.steps=24",
                              "workload.batches_per_step=" + std::to_string(static_cast<int>(k))});
          const Times t = times(rate, tiles_left, size, batch, k);
          CHECK(phase(overrides, 3) == s(side < 1 ? t.C : t.W));
        }
}

TEST_CASE(
    "phased: all work is done for any number of batches and any number of batches in flight") {
  const std::vector<std::string> places = {"{activations: on_chip}",
                                           "{activations: pair_link}",
                                           "{activations: streaming}",
                                           "{activations: streaming, stages: 1}",
                                           "{activations: on_chip, devices: [ipu0, ipu1, ipu1]}",
                                           "{activations: pair_link, devices: [ipu1, ipu0, ipu1]}",
                                           "{activations: streaming, devices: [ipu1, ipu1, ipu0]}"};
  for (const std::string& place : places)
    for (int batches = 1; batches <= 7; ++batches)
      for (const char* turns : {"auto", "1", "2", "3", "5"})
        for (int steps : {1, 2, 3}) {
          INFO(place << ", " << batches << " batches, " << turns << " in flight, " << steps
                     << " steps");
          const Plan plan = make_plan(
              ipu_pair({"phases=" + place, "workload.batches_per_step=" + std::to_string(batches),
                        std::string("policy.in_flight=") + turns,
                        "workload.steps=" + std::to_string(steps)}));
          REQUIRE_NOTHROW(check(plan));
          std::int64_t done = 0;
          for (std::uint32_t a = 0; a < plan.actions.size(); ++a)
            done += plan.actions[a].samples_done * plan.executions_of(a);
          CHECK(done == 32 * batches * steps);
        }
}

/// Returns the sum of the seconds of all actions in a plan.
double sum_of(const Plan& plan) {
  double seconds = 0;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    const Action& action = plan.actions[a];
    double one = action.seconds;
    if (action.is_transfer())
      one = static_cast<double>(action.moved_bytes()) /
            plan.links[plan.routes[action.flow().route].links[0]].bandwidth;
    seconds += one * static_cast<double>(plan.executions_of(a));
  }
  return seconds;
}

TEST_CASE(
    "without overlap, the makespan is the sum of the seconds of all actions, for every "
    "policy") {
  for (const char* policy :
       {"{name: resident, overlap: false}", "{name: streamed, overlap: false}",
        "{name: streamed, overlap: false, in_flight: 2}", "{name: sharded, overlap: false}",
        "{name: phased, overlap: false}", "{name: phased, overlap: false, weights_per: step}"})
    for (const char* place : {"on_chip", "pair_link", "streaming"})
      for (int batches : {1, 3})
        for (int steps : {1, 7}) {
          std::vector<std::string> overrides = {
              std::string("policy=") + policy,
              "workload.batches_per_step=" + std::to_string(batches),
              "workload.steps=" + std::to_string(steps)};
          const bool phased = std::string(policy).find("phased") != std::string::npos;
          if (!phased && std::string(place) != "on_chip") continue;
          const Plan plan = make_plan(
              phased ? ipu_pair(with(overrides, {std::string("phases.activations=") + place}))
                     : test::ipu_pair_without_phases(overrides));
          INFO(policy << ", " << place << ", " << batches << " batches, " << steps << " steps");
          check(plan);
          CHECK(execute_isolated(plan).report.makespan == s(sum_of(plan)));
        }
}

}  // namespace
}  // namespace sluice
