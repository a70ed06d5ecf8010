// Tests training with the strategy `optimal` for fates, and training under the policy `phased`. A key that means
// nothing in its scenario must be refused, and so must a plan that does not fit.
#include "support/training_case.hpp"

namespace sluice {
namespace {

using namespace training_case;

TEST_CASE("with either solver, optimal takes the fastest of keeping, copying and recomputing") {
  // A device needs 11 kB if it keeps the input and A's output until the backward pass of C. A budget of 8 kB is enough
  // if two things change. The input is dropped and loaded again, which takes 0.001 ms. A's output is either offloaded,
  // which takes 2 x 0.002 ms, or recomputed, which takes 1 ms.
  for (const char* solver : {"frontier", "milp"}) {
    CAPTURE(solver);
    CHECK(makespan_of(four + cut + serial + "fates: {strategy: optimal, budget: 8kB, solver: " +
                      solver + "}\n") == ms(0.6 + 4 * (18 + 2 * 0.001 + 2 * 0.002)));
  }
  CHECK_THROWS_WITH(
      makespan_of(four + cut +
                  "policy: {name: resident}\nfates: {strategy: optimal, solver: milp}\n"),
      Catch::Contains("'policy.overlap' must be false"));
}

TEST_CASE("milp: stages without inner tensors give a plan that runs") {
  // Dense stages keep only their input, so their inner tensors have 0 bytes. Inner tensors of 0 bytes are neither saved
  // nor loaded.
  for (const char* budget : {"8kB", "9kB", "10kB", "11kB"}) {
    CAPTURE(budget);
    const std::string fates = "fates: {strategy: optimal, budget: " + std::string(budget);
    CHECK(makespan_of(four + cut + serial + fates + ", solver: milp}\n") <=
          makespan_of(four + cut + serial + fates + "}\n") * (1 + 1e-9));
  }
}

TEST_CASE("phased training: devices take turns, and each phase loads its own weights") {
  // Two devices train with sgd and without overlap. Each device has a link of its own. Device 0 computes stages A and C,
  // and device 1 computes stage B. FA is the forward pass of stage A, and BA is its backward pass. There are five
  // phases: FA, FB, FC with BC, BB and BA. They compute for 1, 2, 3 + 6, 4 and 2 ms. Each phase loads the weights of its
  // stage: 0.1 + 0.2 + 0.3 + 0.2 + 0.1 ms.
  //
  // Four tensors go from one device to the other. Each tensor is saved to host memory and then loaded. Its load takes
  // as long as its save. FB needs A's output (2 x 0.002 ms). FC needs B's output (2 x 0.003 ms). BB needs the gradient
  // of B's output (2 x 0.003 ms). BA needs the gradient of A's output (2 x 0.002 ms).
  //
  // Each backward pass finds the input of its stage on its device, because the forward pass has left it there. The input
  // of A is loaded once, in 0.001 ms. The updates of the weights take 0.3 ms. Then the weights are saved in 0.6 ms.
  const std::vector<std::string> overrides = {"platform.devices.gpu.count=2",
                                              "platform.links.host.sharing=private"};
  CHECK(makespan_of("workload: {mode: training, optimizer: sgd}\n" + cut +
                        "policy: {name: phased, overlap: false, resident: none}\n",
                    overrides) == ms(18 + 0.9 + 2 * 0.010 + 0.001 + 0.3 + 0.6));
}

TEST_CASE(
    "SimGrid's engine and the replay give equal times for phased training, under every "
    "fate") {
  for (const char* count : {"1", "2", "3"})
    for (const char* fates : {"keep_all", "recompute_all", "offload_all", "sqrt"}) {
      CAPTURE(count, fates);
      makespan_of(
          "workload: {mode: training, batch: 6, micro_batch: 2, steps: 3, optimizer: adam}"
          "\n" +
              cut + "policy: {name: phased, in_flight: 2}\nfates: {strategy: " + fates + "}\n",
          {std::string("platform.devices.gpu.count=") + count,
           "platform.links.host.sharing=private"});
    }
}

/// Returns overrides for two devices with these memories, each with all of the link's bandwidth.
std::vector<std::string> two_devices(const std::string& first, const std::string& second) {
  const auto device = [](const std::string& name, const std::string& capacity) {
    return name + ": {rate: {float32: 1GFLOP/s}, memory: {capacity: " + capacity + "}}";
  };
  return {"platform.devices={" + device("gpu0", first) + ", " + device("gpu1", second) + "}",
          "platform.links.host={joins: [host, gpu0, gpu1], bandwidth: 1GB/s, sharing: private}"};
}

TEST_CASE("phased training compares the bytes of each device with the memory of this device") {
  // Device 0 computes stages A and C, and device 1 computes stage B. During the backward pass of C, device 0 holds 600
  // kB of weights and gradients, B's output and its gradient with 3 kB each, and C's output with 1 kB. During the
  // backward pass of B, device 1 holds 400 kB, 2 kB each of A's output and its gradient, and 3 kB of a gradient.
  const std::string phased =
      "workload: {mode: training, batch: 1, micro_batch: 1, optimizer: none}\n" + cut +
      "policy: {name: phased, resident: none}\nfates: offload_all\n";
  const double all = makespan_of(phased, two_devices("1MB", "1MB"));
  CHECK(makespan_of(phased, two_devices("1MB", "500kB")) <= all * (1 + 1e-9));
  CHECK_THROWS_WITH(makespan_of(phased, two_devices("1MB", "390kB")),
                    Catch::Contains("of the 390 kB of gpu1, in the backward of 3-L"));
  CHECK_THROWS_WITH(makespan_of(phased, two_devices("500kB", "390kB")),
                    Catch::Contains("of the 500 kB of gpu0, in the backward of 4-L"));
}

TEST_CASE("the number in flight that fits counts the bytes of all devices that take turns") {
  // Device 1 holds stage B with 400 kB of weights and gradients, and for each micro-batch A's output of 2 kB and more.
  // Device 0 has far fewer bytes.
  const std::vector<Row> rows = {{1, 10'000, 2000}, {2, 200'000, 3000}};
  const auto plan_of = [&](const std::string& in_flight) {
    std::vector<std::string> overrides = two_devices("430kB", "430kB");
    return make_plan(small_scenario(
        1000, rows,
        "workload: {mode: training, batch: 8, micro_batch: 1, optimizer: none}\n" + cut +
            "policy: {name: phased, resident: none, overlap: false, in_flight: " + in_flight +
            "}\nfates: keep_all\n",
        overrides));
  };
  std::int64_t most = 0;
  try {
    makespan_of(plan_of("8"));
  } catch (const Infeasible& refused) {
    most = refused.shortage.most_in_flight.value_or(0);
  }
  CHECK((most > 1 && most < 8));
  const double fastest = makespan_of(plan_of(std::to_string(most)));
  CHECK_THROWS_AS(makespan_of(plan_of(std::to_string(most + 1))), Infeasible);
  CHECK(makespan_of(plan_of("auto")) <= fastest * (1 + 1e-9));
}

TEST_CASE("milp is refused for too many stages, and the time limit is refused for other solvers") {
  const std::string fates = "policy: {name: resident, overlap: false}\nfates: {strategy: optimal, ";
  CHECK_THROWS_WITH(make_plan(small_scenario(1000, std::vector<Row>(65, {1, 1000, 1000}),
                                             four + cut + fates + "solver: milp}\n")),
                    Catch::Contains("'milp' for 'solver'") && Catch::Contains("up to 64 stages"));
  CHECK_THROWS_WITH(makespan_of(four + cut + fates + "time_limit: 5s}\n"),
                    Catch::Contains("'time_limit' is only for the solver milp"));
}

TEST_CASE("keys without a meaning in training are refused at their position") {
  for (const char* policy : {"resident", "streamed", "data_parallel, replica: streamed"})
    for (const char* key : {"buffers: 3", "outputs: return"}) {
      CAPTURE(policy, key);
      const std::string name(key, std::string(key).find(':'));
      CHECK_THROWS_WITH(
          makespan_of(four + cut + "policy: {name: " + policy + ", " + key + "}\n"),
          Catch::Contains("'" + name + "' is for inference") && Catch::Contains("small.yaml"));
    }
}

TEST_CASE("the advice for a plan that does not fit leaves out changes that are already made") {
  const auto refusal = [](const std::string& policy, const std::string& micro_batch) {
    try {
      makespan_of("workload: {mode: training, batch: 4, optimizer: none, micro_batch: " +
                      micro_batch + "}\n" + cut + "policy: {name: " + policy + "}\n",
                  {"platform.devices.gpu.memory.capacity=605kB"});
    } catch (const Infeasible& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(refusal("streamed, in_flight: 1", "2"),
             Catch::Contains("keep fewer activations, a smaller micro_batch, or smaller stages"));
  CHECK_THAT(refusal("streamed, in_flight: 1", "1"),
             Catch::Contains("keep fewer activations, or smaller stages"));
  CHECK_THAT(refusal("resident", "1"), Catch::Contains("policy streamed"));
}

TEST_CASE("a training plan is read back from its text, with any policy, fates and optimizer") {
  const auto check_text = [](const std::string& policy, const std::string& count,
                             const std::string& fates, const std::string& optimizer) {
    CAPTURE(policy, count, fates, optimizer);
    const Plan plan = make_plan(small_scenario(
        1000, abc,
        "workload: {mode: training, batch: 8, micro_batch: 1, batches_per_step: 2, optimizer: " +
            optimizer + "}\n" + cut + "policy: {" + policy + "}\nfates: {strategy: " + fates +
            "}\n",
        {"platform.devices.gpu.count=" + count, "platform.links.host.sharing=private"}));
    check(plan);
    const Plan back = plan_from_text(to_text(plan), "back");
    CHECK(to_text(back) == to_text(plan));
    CHECK(replay(back).makespan == replay(plan).makespan);
  };
  for (const char* fates : {"keep_all", "recompute_all", "offload_all", "sqrt", "checkpoint"})
    for (const char* optimizer : {"none", "sgd", "adam"}) {
      for (const char* policy : {"name: resident", "name: streamed", "name: streamed, in_flight: 2",
                                 "name: phased", "name: phased, in_flight: 3"})
        check_text(policy, "1", fates, optimizer);
      for (const char* policy : {"name: phased", "name: data_parallel, replica: resident",
                                 "name: data_parallel, replica: streamed, in_flight: 2",
                                 "name: data_parallel, replica: phased"})
        check_text(policy, "2", fates, optimizer);
    }
}

TEST_CASE("a budget that is too small for training is refused with the bytes by class") {
  CHECK_THROWS_WITH(
      makespan_of(four + cut + serial, {"platform.devices.gpu.memory.capacity=1.205MB"}),
      Catch::Contains("does not fit") && Catch::Contains("gradient") && Catch::Contains("weight"));
}

/// Returns a scenario with the given layers. In the tests below, the input has 1000 elements, which are 4 kB. Only the
/// second layer after the input has weights.
Scenario before_the_first_weights(const std::string& layers, const std::string& rest) {
  return read_scenario(
      parse_text("format: sluice-scenario/1\nmodel:\n  definition:\n    format: sluice-model/1\n"
                 "    name: m\n" +
                     layers +
                     "platform:\n  format: sluice-platform/1\n  name: p\n"
                     "  devices: {gpu: {rate: {float32: 1GFLOP/s}, memory: {capacity: 1MB}}}\n"
                     "  memories: {host: {capacity: unlimited}}\n"
                     "  links: {host: {joins: [host, gpu], bandwidth: 1GB/s}}\n" +
                     serial + cut + rest,
                 "m.yaml"),
      "m");
}

TEST_CASE("layers before the first weights take no seconds and no bytes for a backward pass") {
  const std::string rest =
      "cost: {model: measured}\n"
      "workload: {mode: training, backward: per_layer, optimizer: none}\n";
  const auto plan_of = [&](const std::string& backward) {
    return make_plan(before_the_first_weights(
        "    measured_batch: 1\n    layers:\n      - {type: input, name: x, shape: [1000]}\n"
        "      - {type: measured, name: a, forward: 1ms" +
            backward +
            "}\n      - {type: measured, name: b, forward: 2ms, backward: 4ms, parameters: 1000}\n",
        rest));
  };
  // Weights and input take 4 us each. During the backward pass of layer b, the device holds five tensors of 4 kB each:
  // the weights, their gradients, a's output, b's output, and the gradient of b's output.
  const Plan without = plan_of("");
  CHECK(makespan_of(without) == ms(0.008 + 1 + 2 + 4));
  CHECK(replay(without).peaks.front() == 5 * 4000);
  // Now the model gives measured seconds for the backward pass of layer a, so layer a has a backward pass. For this
  // pass, the device holds two more tensors of 4 kB: the input of layer a, and the gradient of a's output, which layer
  // b makes.
  const Plan with = plan_of(", backward: 3ms");
  CHECK(makespan_of(with) == ms(0.008 + 1 + 2 + 4 + 3));
  CHECK(replay(with).peaks.front() == 7 * 4000);
}

TEST_CASE("a multiple of the forward pass counts only layers that have a backward pass") {
  // The layer relu has 1000 FLOP, which take 1 us. In its forward pass, the layer dense has 2 x 10,000 FLOP, which take
  // 20 us. In its backward pass, it has twice as many FLOP, which take 40 us. The weights have 40 kB and take 40 us to
  // load. The input takes 4 us.
  const Plan plan = make_plan(before_the_first_weights(
      "    layers:\n      - {type: input, name: x, shape: [1000]}\n      - {type: relu}\n"
      "      - {type: dense, features: 10, bias: false}\n",
      "workload: {mode: training, optimizer: none}\n"));
  CHECK(makespan_of(plan) == ms(0.044 + 0.001 + 0.020 + 0.040));
}

}  // namespace
}  // namespace sluice
