// Tests training in which the weights of a stage stay on the device while its gradients or its optimizer state take
// turns. The numbers can be computed by hand. The optimizer state of adam has twice as many bytes as the weights.
#include "planning/training/orders.hpp"
#include "support/training_case.hpp"

namespace sluice {
namespace {

using namespace training_case;

constexpr double computed = 4 * (18 + 0.001);  // four micro-batches, with the loads of their inputs

std::string streamed(const std::string& keys) {
  return four + cut + "policy: {name: streamed, overlap: false, " + keys + "}\n";
}

TEST_CASE(
    "streamed training: weights stay, and optimizer state is loaded and saved once per batch") {
  // The weights are loaded once, in 0.6 ms. The updates take 1.8 ms. The state is loaded and saved in 1.2 ms each.
  const std::string keys = streamed("in_flight: 4, resident: all, resident_optimizer: none");
  CHECK(makespan_of(keys, {"workload.optimizer=adam"}) == ms(0.6 + computed + 1.8 + 1.2 + 1.2));
  // A second step loads no weights.
  CHECK(makespan_of(keys, {"workload.optimizer=adam", "workload.steps=2"}) ==
        ms(0.6 + 2 * (computed + 1.8 + 1.2 + 1.2)));
  // Without an update, there is no state. Gradients that take turns are saved as the answer, in 0.6 ms. Gradients that
  // stay are not.
  CHECK(makespan_of(keys) == ms(0.6 + computed));
  CHECK(makespan_of(streamed("in_flight: 4, resident: all, resident_gradients: none")) ==
        ms(0.6 + computed + 0.6));
}

TEST_CASE("streamed training: the device holds the state of a stage only during its update") {
  // The weights and gradients of all stages stay (1.2 MB). The update of C also needs 600 kB of state. Then the device
  // holds for each micro-batch the input, the output of A, and the gradient of B's output (6 kB).
  const auto peak = [](const std::string& keys) {
    return replay(make_plan(small_scenario(1000, abc, streamed(keys), {"workload.optimizer=adam"})))
        .peaks.front();
  };
  CHECK(peak("in_flight: 4, resident: all, resident_optimizer: none") ==
        1'200'000 + 600'000 + 4 * 6'000);
  // If gradients do not stay either, those of C are there during its update.
  CHECK(peak("in_flight: 4, resident: all, resident_gradients: none, resident_optimizer: none") ==
        600'000 + 300'000 + 600'000 + 4 * 6'000);
  // If the state of B stays, these 400 kB are there, too.
  CHECK(peak("in_flight: 4, resident: all, resident_gradients: none, resident_optimizer: [2]") ==
        600'000 + 300'000 + 400'000 + 600'000 + 4 * 6'000);
}

TEST_CASE(
    "streamed training in two passes: sums of gradients that take turns are saved and loaded") {
  const std::string two = "in_flight: 2, resident: all, ";
  // The sums of all stages are saved after the first pass, and loaded in the second pass, in 0.6 ms each.
  CHECK(makespan_of(streamed(two + "resident_gradients: none"), {"workload.optimizer=sgd"}) ==
        ms(0.6 + computed + 0.6 + 0.6 + 0.3));
  // Only the sum of A takes turns (0.1 ms), and the state of A and B (0.2 + 0.4 ms).
  CHECK(makespan_of(streamed(two + "resident_gradients: [2..3], resident_optimizer: [3]"),
                    {"workload.optimizer=adam"}) ==
        ms(0.6 + computed + 0.1 + 0.1 + 0.6 + 0.6 + 1.8));
  // The weights of A take turns, too. But no other weights do, so they are loaded only once. The update saves them.
  CHECK(makespan_of(streamed("in_flight: 2, resident: [2, 3], resident_optimizer: [3]"),
                    {"workload.optimizer=adam"}) ==
        ms(0.5 + 0.1 + 0.1 + computed + 0.1 + 0.1 + 0.6 + 0.6 + 1.8));
}

TEST_CASE("streamed training: if the weights fit, but not the state, only the state takes turns") {
  // This memory is enough for all weights, and for the update of C. If all tensors of A stayed, C would not fit.
  const auto run = [](std::int64_t capacity) {
    return make_plan(
        small_scenario(1000, abc, streamed("resident: auto") + "fates: keep_all\n",
                       {"workload.optimizer=adam",
                        "platform.devices.gpu.memory.capacity=" + std::to_string(capacity) + "B"}));
  };
  CHECK(makespan_of(run(1'524'000)) == ms(0.6 + computed + 1.8 + 1.2 + 1.2));
  // If the state of C stays, its copies take no time. During the update of B, the device then also holds the gradients and
  // the state of B (200 + 400 kB). For each micro-batch, it holds the input and the gradient of A's output (3 kB), and the
  // output of A was needed until then (2 kB).
  const std::int64_t more = 600'000 + 600'000 + 200'000 + 400'000;
  CHECK(makespan_of(run(more + 4 * 5'000)) == ms(0.6 + computed + 1.8 + 0.6 + 0.6));
  CHECK(makespan_of(run(more)) == ms(0.6 + computed + 1.8 + 1.2 + 1.2));
}

TEST_CASE("training with adam: more memory is never slower") {
  // A stage has 100 kB of weights, 100 kB of gradients and 200 kB of state.
  const std::vector<Row> rows(10, {0.02, 100'000, 1'000});
  for (const std::string policy : {"name: streamed", "name: streamed, overlap: false",
                                   "name: data_parallel, replica: streamed", "name: phased"}) {
    const bool alone = policy.find("streamed") == 6;
    double before = 1;
    int different = 0;
    std::int64_t weights_only = 0;
    for (std::int64_t capacity = 500'000; capacity <= 4'200'000; capacity += 185'000) {
      const Plan plan = make_plan(small_scenario(
          1000, rows,
          "workload: {mode: training, batch: 4, micro_batch: 1, steps: 3, optimizer: adam}\n" +
              cut + "fates: keep_all\npolicy: {" + policy + "}\n",
          {"platform.devices.gpu.memory.capacity=" + std::to_string(capacity) + "B",
           "platform.devices.gpu.count=" + std::string(alone ? "1" : "2"),
           "platform.links.host.bandwidth=100MB/s"}));
      const double now = makespan_of(plan);
      CAPTURE(policy, capacity);
      CHECK(now <= before * (1 + 1e-9));
      different += now < before;
      before = now;
      const Fact* stays = find_fact(plan.facts, "resident_bytes");
      if (stays) weights_only += static_cast<std::int64_t>(stays->number()->value) % 400'000 != 0;
    }
    CHECK(different > 5);
    if (alone) CHECK(weights_only > 3);
  }
}

/// Returns the seconds of two replicas with links of their own to host memory, and with a link of this bandwidth between
/// them. Each replica computes one micro-batch per batch.
double pair_makespan(const std::string& bandwidth, const std::string& keys,
                     const std::vector<std::string>& further = {}, Plan* made = nullptr) {
  std::vector<std::string> overrides = {
      "platform.devices.gpu.count=2", "platform.links.host.sharing=private",
      "platform.links.pair={joins: [gpu0, gpu1], bandwidth: " + bandwidth + "}"};
  overrides.insert(overrides.end(), further.begin(), further.end());
  const Plan plan = make_plan(small_scenario(
      1000, abc,
      "workload: {mode: training, batch: 2, micro_batch: 1, optimizer: adam}\n" + cut +
          "fates: keep_all\npolicy: {name: data_parallel, replica: streamed, overlap: false" +
          keys + "}\n",
      overrides));
  if (made) *made = plan;
  return makespan_of(plan);
}

TEST_CASE("replicas that sum gradients: weights stay, and optimizer state takes turns") {
  const double one = 0.6 + 18 + 0.001;  // the loads of the weights and of an input, and the passes
  const std::string state_turns = ", in_flight: 1, resident: all, resident_optimizer: none";
  // The gradients of C (300 kB) go around in two halves, in 0.3 ms. Meanwhile, 600 kB of state are loaded, in 0.6 ms.
  // So the sums cost no time.
  CHECK(pair_makespan("1GB/s", state_turns) == ms(one + 1.2 + 1.8 + 1.2));
  // With a tenth of the bandwidth, each update waits for the sums: 3, 2 and 1 ms. They hide the loads of the state.
  CHECK(pair_makespan("100MB/s", state_turns) == ms(one + 6 + 1.8 + 1.2));
  // If the state stays, too, all updates come at the end. The backward passes of B and A (4 and 2 ms) hide the sums of C
  // and B, and the updates of C and B (0.9 and 0.6 ms) hide those of A.
  CHECK(pair_makespan("100MB/s", ", in_flight: 1, resident: all") == ms(one + 1.8));
  // If gradients take turns, too, they are made on the device, and are released after the update. This takes no time.
  CHECK(pair_makespan("100MB/s", state_turns + ", resident_gradients: none") ==
        ms(one + 6 + 1.8 + 1.2));
}

/// Returns the plan of phased training on two devices. Stages A and C are on device gpu0, and B is on gpu1.
Plan phased(const std::string& keys, const std::vector<std::string>& further = {}) {
  std::vector<std::string> overrides = {"platform.devices.gpu.count=2", "workload.optimizer=adam"};
  overrides.insert(overrides.end(), further.begin(), further.end());
  return make_plan(small_scenario(
      1000, abc, four + cut + "fates: keep_all\npolicy: {name: phased, " + keys + "}\n",
      overrides));
}

// Without overlap, all actions run one after the other. A micro-batch computes for 18 ms, and its input takes 1 us. The
// outputs of A and B (2 and 3 kB) and their gradients go from device to device through host memory, so each of them is
// saved and loaded: 20 kB take 20 us.
constexpr double passed_on = 4 * (18 + 0.001 + 0.020);

TEST_CASE("phased training: weights, gradients and optimizer state stay on the devices") {
  const std::string serial = "overlap: false, in_flight: 4, ";
  // The weights are loaded once, in 0.6 ms. The updates take 1.8 ms.
  CHECK(makespan_of(phased(serial + "resident: all")) == ms(0.6 + passed_on + 1.8));
  CHECK(makespan_of(phased(serial + "resident: all", {"workload.steps=2"})) ==
        ms(0.6 + 2 * (passed_on + 1.8)));
  // The state of all stages (1.2 MB) is loaded and saved.
  CHECK(makespan_of(phased(serial + "resident: all, resident_optimizer: none")) ==
        ms(0.6 + passed_on + 1.8 + 1.2 + 1.2));
  // B stays. The weights of A are loaded twice and those of C once, because its passes follow each other. They are saved
  // once. The state of A and C (200 and 600 kB) is loaded and saved.
  CHECK(makespan_of(phased(serial + "resident: [2]")) ==
        ms(0.2 + 2 * 0.1 + 0.3 + passed_on + 1.8 + 0.4 + 0.8 + 0.8));
  // Nothing stays.
  CHECK(makespan_of(phased(serial + "resident: none")) ==
        ms(2 * 0.1 + 2 * 0.2 + 0.3 + passed_on + 1.8 + 0.6 + 1.2 + 1.2));
}

TEST_CASE("phased training: each device holds the tensors of its own stages") {
  // With their gradients and state, the weights of A and C take 1.6 MB of gpu0, and those of B take 0.8 MB of gpu1. If the
  // choice is open, all of them stay in 1.7 MB. In 1.5 MB, those of A and C cannot.
  const auto within = [](const std::string& bytes) {
    return std::vector<std::string>{"platform.devices.gpu.memory.capacity=" + bytes,
                                    "platform.links.host.bandwidth=100MB/s"};
  };
  const auto bytes_that_stay = [&](const std::string& bytes) {
    const Plan plan = phased("resident: auto", within(bytes));
    makespan_of(plan);
    const Fact* const stays = find_fact(plan.facts, "resident_bytes");
    return stays ? stays->number()->value : 0;
  };
  CHECK(bytes_that_stay("1700kB") == 2'400'000);
  CHECK(bytes_that_stay("1500kB") > 0);
  CHECK(bytes_that_stay("1500kB") < 2'400'000);
  const ReplayResult all = replay(phased("in_flight: 4, resident: all"));
  CHECK(all.peaks[0] >= 1'600'000);
  CHECK(all.peaks[0] < 1'650'000);
  CHECK(all.peaks[1] >= 800'000);
  CHECK(all.peaks[1] < 850'000);
  try {
    check(phased("in_flight: 4, resident: all", within("1500kB")));
    FAIL("1.6 MB fit into 1.5 MB");
  } catch (const Infeasible& infeasible) {
    CHECK(infeasible.shortage.pool == "gpu0");
    CHECK_THAT(infeasible.what(), Catch::Contains("take 1.6 MB of the 1.5 MB of gpu0"));
  }
}

TEST_CASE("the keys of gradients and optimizer state are refused if the weights do not stay") {
  const auto refused = [](const std::string& keys) {
    try {
      make_plan(small_scenario(1000, abc, streamed(keys), {"workload.optimizer=adam"}));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  using Catch::Contains;
  CHECK_THAT(refused("resident_optimizer: all"),
             Contains("'resident_optimizer' needs the key 'resident'"));
  CHECK_THAT(
      refused("resident: [1], resident_gradients: [1..2]"),
      Contains("'resident_gradients' names stage 2") && Contains("add the stage to 'resident'"));
  CHECK(refused("resident: [1], resident_gradients: all, resident_optimizer: none") == "nothing");
}

TEST_CASE("phased inference refuses the keys of tensors that stay") {
  for (const char* key : {"resident", "resident_gradients", "resident_optimizer"}) {
    CAPTURE(key);
    CHECK_THROWS_WITH(
        make_plan(small_scenario(1000, abc, cut + "policy: {name: phased, " + key + ": all}\n")),
        Catch::Contains(key) && Catch::Contains("is for training"));
  }
}

TEST_CASE(
    "the text of a choice names gradients and state if they stay in other stages than weights") {
  constexpr StayingTensors weights{.weights = true}, sums{.weights = true, .gradients = true};
  CHECK(staying_text({all_stay, {}, all_stay, all_stay}) == "resident: 1, 3..4");
  CHECK(staying_text({weights, weights, sums}) ==
        "resident: 1..3, resident_gradients: 3, resident_optimizer: none");
}

}  // namespace
}  // namespace sluice
