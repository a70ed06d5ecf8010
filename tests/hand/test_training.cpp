// Tests training against hand calculations. With 1 GFLOP/s and 1 GB/s, 1e6
// FLOP take 1 ms and 1 kB takes 1 us.
#include "support/training_case.hpp"

namespace sluice {
namespace {

using namespace training_case;

TEST_CASE(
    "training, all kept: the weights and one input are loaded, and then all passes run "
    "without a pause") {
  // The weights of A take 0.1 ms, and the input takes 0.001 ms. Then each of four micro-batches takes 1 + 2 + 3 ms
  // forward, and twice as long backward. The weights of B and C (0.2 + 0.3 ms) are loaded during the first forward pass
  // of A.
  CHECK(makespan_of(four + cut + "policy: {name: resident}\n") == ms(0.1 + 0.001 + 72));
}

TEST_CASE(
    "training without overlap: the time of each input is added to the time of the forward "
    "and backward passes") {
  CHECK(makespan_of(four + cut + serial) == ms(0.6 + 4 * (0.001 + 18)));
}

TEST_CASE("an update takes the FLOP of its optimizer per parameter, once per batch") {
  // There are 150,000 parameters. Per parameter, sgd takes 2 FLOP (0.3 ms in total), and adam takes 12 FLOP (1.8 ms in
  // total).
  CHECK(makespan_of(four + cut + serial, {"workload.optimizer=sgd"}) ==
        ms(0.6 + 4 * (0.001 + 18) + 0.3));
  CHECK(makespan_of(four + cut + serial, {"workload.optimizer=adam", "workload.steps=2"}) ==
        ms(0.6 + 2 * (4 * (0.001 + 18) + 1.8)));
}

TEST_CASE("the backward pass takes the requested multiple of the seconds of the forward pass") {
  CHECK(makespan_of(four + cut + serial, {"workload.backward=1"}) == ms(0.6 + 4 * (0.001 + 12)));
  // A layer has two gradients: of its input and of its weights. Each gradient takes as many FLOP as the forward pass.
  // So the backward pass takes twice as long as the forward pass.
  CHECK(makespan_of(four + cut + serial, {"workload.backward=per_layer"}) ==
        ms(0.6 + 4 * (0.001 + 18)));
}

TEST_CASE("a split backward pass takes as long as a whole backward pass") {
  CHECK(makespan_of(four + cut + serial, {"workload.split_backward=true"}) ==
        ms(0.6 + 4 * (0.001 + 18)));
}

TEST_CASE("recomputing all stages adds a forward pass of each stage whose tensors are read again") {
  // A and B run forward again (1 + 2 ms). C does not run again: it has no inner tensors, and its output is still on the
  // device for the loss.
  CHECK(makespan_of(four + cut + serial + "fates: {strategy: recompute_all}\n") ==
        ms(0.6 + 4 * (0.001 + 18 + 3)));
}

TEST_CASE(
    "loads on a busy link start during a computation, and no computation waits for these loads") {
  // Each of the eight layers takes 1 ms forward and 2 ms backward. The output of a layer takes 2.2 ms on the link, and
  // the weights of a layer take 1 us. The run begins with the weights of the first layer and the input, in 2 us. The
  // outputs of the first three layers are saved from 1 to 7.6 ms. These outputs are needed again at 16, 18 and 20 ms.
  // The loads start at 12, 14.2 and 16.4 ms and end in time. The last two loads start in the middle of a backward pass.
  const std::vector<Row> rows(8, {1, 1000, 2'200'000});
  const Scenario scenario = small_scenario(
      1000, rows,
      "workload: {mode: training, batch: 1, optimizer: none}\npolicy: {name: resident}\n" + cut +
          "fates: {strategy: listed, offload: [1..3]}\n");
  CHECK(makespan_of(make_plan(scenario)) == ms(0.001 + 0.001 + 24));
}

TEST_CASE(
    "if all activations are offloaded, each boundary is saved and loaded, and the input is "
    "loaded again") {
  // The outputs of A and B take 0.002 + 0.003 ms in each direction. The output of C is used at once. The input is
  // loaded twice and never saved.
  CHECK(makespan_of(four + cut + serial + "fates: {strategy: offload_all}\n") ==
        ms(0.6 + 4 * (2 * 0.001 + 18 + 2 * 0.005)));
}

TEST_CASE("training, all kept: the peak is at the last backward pass") {
  // Weights and gradients have 600,000 bytes each. During the backward pass of C, the device holds the input (1000
  // bytes), the outputs (2000, 3000 and 1000 bytes) and the gradient of C's output (1000 bytes). This pass also makes
  // the gradient of B's output (3000 bytes).
  CHECK(peak_of(four + cut + serial) == 1'200'000 + 11'000);
}

TEST_CASE("training, all recomputed: the peak is as high as when all tensors are kept") {
  // The peak is in the backward pass of C, as in the test above. All three outputs are made again before this pass.
  CHECK(peak_of(four + cut + serial + "fates: {strategy: recompute_all}\n") == 1'200'000 + 11'000);
  // With A and B offloaded, the backward pass of C does not need the input and A's output. So the device holds the
  // outputs of B and C and their gradients: 3000 + 1000 + 3000 + 1000 bytes.
  CHECK(peak_of(four + cut + serial + "fates: {strategy: listed, offload: [1, 2]}\n") ==
        1'200'000 + 8'000);
}

TEST_CASE("the device holds the optimizer's state in addition to weights and gradients") {
  // adam has two float32 values for each of 150,000 parameters.
  CHECK(peak_of("workload: {mode: training, batch: 4, micro_batch: 1, optimizer: adam}\n" + cut +
                serial) == 1'200'000 + 1'200'000 + 11'000);
}

TEST_CASE(
    "streamed training, all micro-batches in flight: weights that take turns are loaded once for forward and once "
    "for backward passes") {
  // Weights are loaded for the forward passes of A, B and C and for the backward passes of B and A, in 0.9 ms in total.
  // The weights of C are still on the device. Updates take 0.3 ms. The weights are saved in 0.6 ms.
  CHECK(makespan_of(four + cut + "policy: {name: streamed, overlap: false, resident: none}\n",
                    {"workload.optimizer=sgd"}) == ms(0.9 + 4 * (18 + 0.001) + 0.3 + 0.6));
}

TEST_CASE("streamed training in two passes: gradients are saved and loaded between the passes") {
  // The first pass over the model loads weights in 0.1 + 0.2 + 0.3 + 0.2 + 0.1 ms and saves gradients in 0.6 ms. In the
  // second pass, the weights of A are still on the device. So the second pass loads weights in 0.2 + 0.3 + 0.2 + 0.1
  // ms, and the gradients in 0.6 ms. Updates take 0.3 ms. The weights are saved in 0.6 ms.
  const std::string keys = "policy: {name: streamed, overlap: false, in_flight: 2, resident: ";
  CHECK(makespan_of(four + cut + keys + "none}\n", {"workload.optimizer=sgd"}) ==
        ms(0.9 + 0.6 + 0.8 + 0.6 + 4 * (18 + 0.001) + 0.3 + 0.6));
  // If all weights stay, they are loaded once, in 0.6 ms, and no gradients are copied. If the choice is open, they
  // stay, because there is room for them.
  for (const char* resident : {"all}\n", "auto}\n"})
    CHECK(makespan_of(four + cut + keys + resident, {"workload.optimizer=sgd"}) ==
          ms(0.6 + 4 * (18 + 0.001) + 0.3));
}

TEST_CASE("streamed training with weights that stay: only the others are loaded again") {
  // The weights of B stay. They are loaded once, in 0.2 ms. In the first pass over the model, the weights of A and C
  // are loaded for their forward passes (0.1 + 0.3 ms). Those of C are still on the device for its backward pass, and
  // those of A are loaded again (0.1 ms). The gradients of A and C are saved, in 0.4 ms. In the second pass, the
  // weights of A are still on the device. So this pass loads weights in 0.3 + 0.1 ms, and gradients in 0.4 ms. The
  // updates take 0.3 ms. The weights of A and C are saved, in 0.4 ms.
  const std::string keys =
      "policy: {name: streamed, overlap: false, in_flight: 2, resident: [2]}\n";
  const double seconds = makespan_of(four + cut + keys, {"workload.optimizer=sgd"});
  CHECK(seconds == ms(0.2 + 0.5 + 0.4 + 0.4 + 0.4 + 4 * (18 + 0.001) + 0.3 + 0.4));
  // A second step loads A, C and A again, and the same gradients, but not B.
  CHECK(makespan_of(four + cut + keys, {"workload.optimizer=sgd", "workload.steps=2"}) ==
        Approx(2 * seconds - 0.2e-3).epsilon(1e-9));
  // The device holds the weights and gradients of B all the time (400 kB). The peak is in the last backward pass of C,
  // with its weights and gradients (600 kB), three tensors of each of two samples (2 x 7000 bytes) and two gradients
  // (4000 bytes).
  CHECK(peak_of(four + cut + keys) == 400'000 + 600'000 + 2 * 7'000 + 4'000);
}

TEST_CASE("streamed training: more memory lets more weights stay, and is never slower") {
  // Twelve layers have 100 kB of weights each. With sgd, a stage also has 100 kB of gradients, which may take turns while
  // its weights stay.
  const std::vector<Row> rows(12, {0.005, 100'000, 1'000});
  double before = 1, first = 0, last = 0;
  int different = 0;
  for (std::int64_t capacity = 500'000; capacity <= 3'500'000; capacity += 100'000) {
    const Plan plan = make_plan(small_scenario(
        1000, rows,
        "workload: {mode: training, batch: 4, micro_batch: 1, steps: 9, optimizer: sgd}\n" + cut +
            "fates: keep_all\npolicy: {name: streamed}\n",
        {"platform.devices.gpu.memory.capacity=" + std::to_string(capacity) + "B"}));
    last = makespan_of(plan);
    CAPTURE(capacity);
    CHECK(last <= before);
    const Fact* stays = find_fact(plan.facts, "resident_bytes");
    const std::int64_t bytes = stays ? static_cast<std::int64_t>(stays->number()->value) : 0;
    CHECK(bytes % 100'000 == 0);
    CHECK(bytes <= capacity);
    different += last < before;
    before = last;
    if (first == 0) first = last;
  }
  // In the end, all weights stay. In the first step, they arrive after 1.2 ms, with four inputs (0.004 ms). Then the last
  // forward passes (0.02 ms), the backward passes (0.48 ms) and the updates (0.6 ms) follow. Each later step computes for
  // 0.24 + 0.48 + 0.6 ms.
  CHECK(last == ms(1.204 + 0.02 + 0.48 + 0.6 + 8 * 1.32));
  CHECK(first > 1.5 * last);
  CHECK(different > 5);
}

TEST_CASE(
    "training with in_flight open takes as long as with the best number that fits, and fits into "
    "memory") {
  // The peak is at the first backward pass of C. During this pass, the device holds C's weights and their gradients,
  // with 600,000 bytes. For each sample, it holds the input and three outputs, with 7000 bytes. For one sample, it also
  // holds the gradients of two outputs, with 4000 bytes. With six samples, the sum is 646,000 bytes.
  const auto planned = [](const std::string& in_flight) {
    return make_plan(small_scenario(
        1000, abc,
        "workload: {mode: training, batch: 8, micro_batch: 1, optimizer: sgd}\n" + cut +
            "fates: {strategy: keep_all}\npolicy: {name: streamed, in_flight: " + in_flight + "}\n",
        {"platform.devices.gpu.memory.capacity=646kB"}));
  };
  const double chosen = makespan_of(planned("auto"));
  for (const char* count : {"1", "2", "3", "4", "6"})
    CHECK(chosen <= makespan_of(planned(count)) * (1 + 1e-9));
  CHECK_THROWS_WITH(planned("7"),
                    Catch::Contains("the greatest number of micro-batches in flight that fits: 6"));
}

TEST_CASE("streamed training loads the weights that the previous step has saved") {
  const Plan plan = make_plan(small_scenario(
      1000, abc,
      "workload: {mode: training, batch: 4, micro_batch: 1, optimizer: sgd, steps: 3}\n" + cut +
          "policy: {name: streamed}\n"));
  std::vector<Executed> spans;
  replay(plan, [&](const Executed& span) { spans.push_back(span); });
  int checked = 0;
  for (const Executed& load : spans) {
    const Action& action = plan.actions[load.action];
    if (action.kind != ActionKind::load || load.iteration == 0) continue;
    if (plan.tensors[action.flow().tensor].tensor_class != TensorClass::weight) continue;
    for (const Executed& save : spans)
      if (plan.actions[save.action].kind == ActionKind::save &&
          plan.actions[save.action].stage == action.stage &&
          save.iteration + plan.actions[save.action].ahead <
              load.iteration + plan.actions[load.action].ahead) {
        CHECK(load.start >= save.end);
        ++checked;
      }
  }
  CHECK(checked > 0);
}

TEST_CASE("SimGrid's engine and the replay agree on training under every fate and policy") {
  for (const char* policy : {"resident", "streamed"})
    for (const char* fates : {"keep_all", "recompute_all", "offload_all", "sqrt", "selective"})
      for (const char* optimizer : {"none", "adam"}) {
        CAPTURE(policy, fates, optimizer);
        makespan_of("workload: {mode: training, batch: 6, micro_batch: 2, steps: 3, optimizer: " +
                    std::string(optimizer) + "}\n" + cut + "policy: {name: " + policy +
                    "}\nfates: {strategy: " + fates + "}\n");
      }
}

const std::string replicas = "policy: {name: data_parallel, replica: resident}\n";
const std::vector<std::string> two = {"platform.devices.gpu.count=2",
                                      "platform.links.host.sharing=private",
                                      "workload.optimizer=sgd"};

std::vector<std::string> with(std::vector<std::string> overrides, const std::string& more) {
  overrides.push_back(more);
  return overrides;
}

TEST_CASE(
    "all-reduce after the backward pass: each of n replicas sends 2 (n - 1) pieces, each 1 / n of "
    "the gradients") {
  // Two replicas compute two micro-batches each. The weights of A take 0.1 ms, the input takes 0.001 ms, and the
  // computation takes 2 x 18 ms. Then each replica sends the gradients of C, B and A (300, 200 and 100 kB) to the other
  // replica. It sends the gradients of each layer in two halves. Both replicas send at the same time, in 0.6 ms. Each
  // of these exchanges is a ring. The updates of C and B run during the next rings. A's update (0.05 ms) runs after the
  // last ring.
  CHECK(makespan_of(four + cut + replicas, with(two, "policy.all_reduce=after")) ==
        ms(0.1 + 0.001 + 36 + 0.6 + 0.05));
  // Four replicas have one micro-batch each. Each replica sends six quarters of the gradients, in 6 / 4 x 0.6 = 0.9 ms.
  CHECK(makespan_of(four + cut + replicas,
                    with(with(two, "platform.devices.gpu.count=4"), "policy.all_reduce=after")) ==
        ms(0.1 + 0.001 + 18 + 0.9 + 0.05));
}

TEST_CASE(
    "computation hides an all-reduce during the backward pass, except for the ring of the "
    "first stage") {
  // The ring of C (0.3 ms) runs during the backward passes of B and A (4 + 2 ms). The ring of B (0.2 ms) runs during
  // the backward pass of A. The ring of A (0.1 ms) runs during the update of C (0.15 ms). So computation hides all
  // transfers.
  CHECK(makespan_of(four + cut + replicas, two) == ms(0.1 + 0.001 + 36 + 0.3));
  // At 1 MB/s, the rings of C (300 ms), B (200 ms) and A (100 ms) run one after the other, from the end of the last
  // backward pass of C. The weights and the first input take 601 ms, and those of C come last. Until then, A and B have
  // computed. The next input comes during the computation of 15 ms that follows. The backward pass of C for the second
  // micro-batch ends at 601 + 15 + 6 + 6 = 628 ms. The rings end at 628 + 600 ms. Then A's update takes 0.05 ms.
  CHECK(makespan_of(four + cut + replicas, with(two, "platform.links.host.bandwidth=1MB/s")) ==
        ms(628 + 600 + 0.05));
}

TEST_CASE("without an update, an all-reduce ends before the next backward pass of its stage") {
  const std::vector<std::string> none = {two[0], two[1], "workload.optimizer=none"};
  // No computation is left that could hide the ring of A (0.1 ms). In the second check, all rings
  // follow the backward pass, and no ring is hidden.
  CHECK(makespan_of(four + cut + replicas, none) == ms(0.1 + 0.001 + 36 + 0.1));
  CHECK(makespan_of(four + cut + replicas, with(none, "policy.all_reduce=after")) ==
        ms(0.1 + 0.001 + 36 + 0.6));
  // At 1 MB/s, the rings of C, B and A end at 634 + 300, 634 + 500 and 634 + 600 ms. The backward passes of C, B and A
  // in the next step wait for these rings. So the backward pass of A ends at 1234 + 2 ms. Then the next micro-batch
  // takes 18 ms, and the rings take 600 ms. The inputs of the next step come before the first ring.
  std::vector<std::string> slow = with(none, "policy.all_reduce=after");
  slow.insert(slow.end(), {"workload.steps=2", "platform.links.host.bandwidth=1MB/s"});
  CHECK(execute_isolated(make_plan(small_scenario(1000, abc, four + cut + replicas, slow)))
            .report.makespan == ms(1234 + 2 + 18 + 600));
  const auto sent = [&](const std::string& replica, const std::string& batches) {
    const Plan plan = make_plan(small_scenario(
        1000, abc, four + cut + "policy: {name: data_parallel, replica: " + replica + "}\n",
        with(none, "workload.batches_per_step=" + batches)));
    makespan_of(plan);
    std::int64_t bytes = 0;
    for (std::uint32_t a = 0; a < plan.actions.size(); ++a)
      if (plan.actions[a].kind == ActionKind::all_reduce)
        bytes += plan.executions_of(a) * plan.actions[a].moved_bytes();
    return bytes;
  };
  for (const char* replica : {"resident", "streamed", "streamed, in_flight: 1", "phased"}) {
    CAPTURE(replica);
    CHECK(sent(replica, "1") == 2 * 600'000);
    CHECK(sent(replica, "3") == 3 * 2 * 600'000);
  }
}

TEST_CASE(
    "n = 256 replicas list 2 n (n - 1) transfers per stage, which send the gradients of the stage "
    "2 (n - 1) times") {
  const Plan plan = make_plan(
      small_scenario(1000, abc, four + cut + replicas,
                     {"platform.devices.gpu.count=256", two[1], two[2], "workload.batch=256"}));
  std::int64_t transfers = 0, bytes = 0;
  for (const Action& action : plan.actions)
    if (action.kind == ActionKind::all_reduce) ++transfers, bytes += action.moved_bytes();
  CHECK(transfers == 3 * 2 * 256 * 255);
  CHECK(bytes == 2 * 255 * 600'000);
}

TEST_CASE(
    "replicas without a ring and without shared links take as long as one replica with its share "
    "of the batch") {
  CHECK(makespan_of(four + cut + replicas, with(two, "policy.all_reduce=off")) ==
        ms(0.1 + 0.001 + 36 + 0.3));
}

TEST_CASE("a batch that replicas cannot share equally is refused") {
  CHECK_THROWS_WITH(makespan_of(four + cut + replicas, with(two, "platform.devices.gpu.count=3")),
                    Catch::Contains("4 micro-batches, which 3 replicas cannot share equally"));
}

/// Executes a plan and returns all its metrics.
Summary summary_of(const Plan& plan) {
  Totals totals(plan);
  for (const Span& span : execute_isolated(plan).spans) totals.span(span);
  return summarise(totals);
}

TEST_CASE(
    "training reports its time relative to the forward passes, and the bytes that left the device") {
  // All boundaries are offloaded without overlap. After the weights have arrived, each of the 4 micro-batches takes
  // 18.012 ms: 0.002 ms to load its input, 18 ms to compute and 0.010 ms to save and load its boundaries. The forward
  // passes of 4 micro-batches take 4 x 6 = 24 ms. Each micro-batch offloads two boundaries of 2000 and 3000 bytes.
  const Summary summary = summary_of(make_plan(
      small_scenario(1000, abc, four + cut + serial + "fates: {strategy: offload_all}\n")));
  CHECK(summary.find("training_over_inference")->value.number ==
        Approx(4 * 18.012 / 24).epsilon(1e-9));
  CHECK(summary.find("offloaded_bytes")->value.number == 4 * 5000);
}

TEST_CASE(
    "the time of training relative to the forward passes does not depend on the number of steps") {
  // Training takes 3 times as long as its forward passes alone. At 1 MB/s, the weights take 600 ms to load. The metric
  // does not count these 600 ms.
  const auto over = [](const std::string& steps, const std::string& bandwidth) {
    const Plan plan = make_plan(
        small_scenario(1000, abc, four + cut + "policy: {name: resident}\n",
                       {"workload.steps=" + steps, "platform.links.host.bandwidth=" + bandwidth}));
    return summary_of(plan).find("training_over_inference")->value.number;
  };
  CHECK(over("1", "1GB/s") == Approx(3).epsilon(1e-9));
  CHECK(over("1", "1MB/s") == Approx(over("100", "1MB/s")).epsilon(0.02));
}

}  // namespace
}  // namespace sluice
