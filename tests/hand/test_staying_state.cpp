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

TEST_CASE("streamed training with adam: more memory is never slower") {
  // A stage has 100 kB of weights, 100 kB of gradients and 200 kB of state.
  const std::vector<Row> rows(10, {0.02, 100'000, 1'000});
  for (const char* keys : {"", ", overlap: false"}) {
    double before = 1;
    int different = 0;
    std::int64_t weights_only = 0;
    for (std::int64_t capacity = 500'000; capacity <= 4'200'000; capacity += 185'000) {
      const Plan plan = make_plan(small_scenario(
          1000, rows,
          "workload: {mode: training, batch: 4, micro_batch: 1, steps: 3, optimizer: adam}\n" +
              cut + "fates: keep_all\npolicy: {name: streamed" + keys + "}\n",
          {"platform.devices.gpu.memory.capacity=" + std::to_string(capacity) + "B",
           "platform.links.host.bandwidth=100MB/s"}));
      const double now = makespan_of(plan);
      CAPTURE(keys, capacity);
      CHECK(now <= before * (1 + 1e-9));
      different += now < before;
      before = now;
      const Fact* stays = find_fact(plan.facts, "resident_bytes");
      if (stays) weights_only += static_cast<std::int64_t>(stays->number()->value) % 400'000 != 0;
    }
    CHECK(different > 5);
    CHECK(weights_only > 3);
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

TEST_CASE(
    "the text of a choice names gradients and state if they stay in other stages than weights") {
  constexpr StayingTensors weights{.weights = true}, sums{.weights = true, .gradients = true};
  CHECK(staying_text({all_stay, {}, all_stay, all_stay}) == "resident: 1, 3..4");
  CHECK(staying_text({weights, weights, sums}) ==
        "resident: 1..3, resident_gradients: 3, resident_optimizer: none");
}

}  // namespace
}  // namespace sluice
