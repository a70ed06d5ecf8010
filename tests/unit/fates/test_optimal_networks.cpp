// Tests `optimal` in real networks, with one layer per stage. Tests the gap of its results, and the parts of the search
// that keep this gap small.
#include <catch2/catch.hpp>

#include <string>

#include "document/load.hpp"
#include "fates/optimal/joint.hpp"
#include "fates/optimal/overlapped_bounds.hpp"
#include "scenario/scenario.hpp"
#include "support/random_chain.hpp"

namespace sluice {
namespace {

struct Network {
  std::string model;
  int batch = 1;
  std::int64_t activation_bytes = 0;  ///< the bytes of activations at the peak of keep_all
};

/// The third value was read from the output of `sluice run` under keep_all: the bytes of activations at the peak.
const Network resnet = {"resnet50", 32, 2'729'574'400};
const Network gpt2 = {"gpt2", 4, 7'955'546'112};

Plan trained(const Network& network, const std::string& platform, const std::string& overlap,
             const std::string& fates) {
  const std::string folder = SLUICE_SOURCE_DIR;
  const std::string batch = std::to_string(network.batch);
  Value document = parse_text(
      "format: sluice-scenario/1\nworkload: {mode: training, batch: " + batch +
          ", micro_batch: " + batch + "}\nstages: {cut: per_layer}\npolicy: {name: resident, " +
          "overlap: " + overlap + "}\nfates: " + fates + "\n",
      "network.yaml");
  Value use = Value::make_map();
  use.set("definition", load_document(folder + "/models/" + network.model + ".yaml"));
  document.set("model", std::move(use));
  document.set("platform", load_document(folder + "/platforms/" + platform + ".yaml"));
  return make_plan(read_scenario(std::move(document), network.model));
}

double gap_within(const Network& network, const std::string& overlap, int percent,
                  const std::string& platform = "a100_pcie") {
  const std::int64_t budget = network.activation_bytes / 100 * percent;
  const Plan plan = trained(network, platform, overlap,
                            "{strategy: optimal, budget: " + std::to_string(budget) + "B}");
  return std::get<Fact::Number>(find_fact(plan.facts, "gap")->value).value;
}

TEST_CASE("optimal: the gap of ResNet-50 and GPT-2 is at most 5 % if copies overlap") {
  for (const Network& network : {resnet, gpt2})
    for (const int percent : {30, 50, 70}) {
      INFO(network.model << " with " << percent << " % of the activations' bytes");
      CHECK(gap_within(network, "true", percent) <= 0.05);
    }
}

TEST_CASE("optimal: the gap of ResNet-50 and GPT-2 is at most 5 % if copies do not overlap") {
  for (const int percent : {30, 50, 70}) {
    INFO(percent << " % of the activations' bytes");
    CHECK(gap_within(resnet, "false", percent) <= 0.05);
    CHECK(gap_within(gpt2, "false", percent) <= 0.05);
    CHECK(gap_within(resnet, "false", percent, "rx7900xtx_pcie4") <= 0.05);
  }
}

TEST_CASE("optimal: one search gives the bounds of a micro-batch and of a run with overlap") {
  test::Dice dice(71);
  for (int round = 0; round < 40; ++round) {
    const Chain chain = test::random_chain(dice, 1 + dice.below(9));
    FateRun run;
    run.micro_batches = static_cast<double>(1 + dice.below(5));
    run.update_s = 0.5;
    if (round % 4 == 3) run.whole_passes = 0.5;
    const std::int64_t budget = 50 + static_cast<std::int64_t>(dice.below(200));
    const OverlappedBounds both = overlapped_bounds(chain, run, budget);
    CHECK(both.run == run_bound_within(chain, run, budget));
    CHECK(both.micro_batch == fate_bound(chain, budget, Copies::overlapped));
  }
}

/// Returns a chain of three stages whose outputs have 100, 10 and 1 byte. Each stage reads the boundary before it.
/// Stage 2 reads boundary 1, too, over a shortcut.
Chain shortcut() {
  Chain chain;
  chain.input = {1, 0, 1};
  chain.stages.resize(3);
  for (std::size_t s = 0; s < 3; ++s) {
    ChainStage& stage = chain.stages[s];
    stage.output.bytes = s == 0 ? 100 : s == 1 ? 10 : 1;
    stage.output.save_s = stage.output.load_s = static_cast<double>(stage.output.bytes);
    stage.gradient = s + 1 < 3 ? stage.output.bytes : 0;
    stage.reads = {{static_cast<std::uint32_t>(s), true}};
  }
  chain.stages[2].reads = {{1, true}, {2, true}};
  return chain;
}

TEST_CASE("branches: a boundary of the view says which part of it earlier stages made") {
  const Chain chain = shortcut();
  const Chain view = joint_chain(chain);
  REQUIRE_FALSE(view.branches());
  CHECK(view.stages[0].output.bytes == 100);
  CHECK(view.stages[0].carried.before == 0);
  // In `view`, which joins the tensors of a boundary, boundary 2 has 110 bytes: the 100 bytes of boundary 1, which
  // stage 2 still reads, and the 10 bytes that stage 1 makes.
  CHECK(view.stages[1].output.bytes == 110);
  CHECK(view.stages[1].output.load_s == 110);
  CHECK(view.stages[1].gradient == 110);
  CHECK(view.stages[1].carried.tensor.bytes == 100);
  CHECK(view.stages[1].carried.tensor.load_s == 100);
  CHECK(view.stages[1].carried.gradient == 100);
  CHECK(view.stages[1].carried.before == 2);
  CHECK(view.stages[2].output.bytes == 1);
}

TEST_CASE("branches: the frontier counts a shortcut once if an earlier boundary holds it") {
  const Chain chain = shortcut();
  const Frontier frontier(joint_chain(chain), {.copies = false});
  // The fastest schedule keeps all tensors. Its peak is during the backward pass of stage 2. Then the device holds
  // boundaries 0 to 2, which have 1 + 100 + 10 bytes, and the gradients of boundaries 1 and 2, which have 100 + 10
  // bytes.
  CHECK(frontier.points().back().peak == 221);
  const Tape tape = separate(chain, frontier.tape(frontier.points().size() - 1));
  CHECK(memory_of(chain, tape).peak == 221);
}

}  // namespace
}  // namespace sluice
