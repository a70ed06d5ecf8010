// Tests the proven bound on the bytes that a chain needs. Also tests what the message of a refusal says about this
// bound.
#include "fates/optimal/least_bytes.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "base/error.hpp"
#include "document/load.hpp"
#include "fates/choices.hpp"
#include "fates/strategy.hpp"
#include "scenario/scenario.hpp"
#include "support/random_chain.hpp"

namespace sluice {
namespace {

TEST_CASE("the least bytes of a chain are the bytes of the pass that needs the most") {
  Chain chain;
  chain.input.bytes = 10;
  chain.stages.resize(3);
  for (std::size_t s = 0; s < 3; ++s) {
    chain.stages[s].output.bytes = chain.stages[s].gradient =
        20 + 10 * static_cast<std::int64_t>(s);
    chain.stages[s].inner.bytes = 5;
  }
  chain.stages[2].gradient = 0;
  chain.stages[2].reads_output = true;
  // A forward pass needs its input and its output: 10 + 20 bytes for stage A, 20 + 30 bytes for B and 30 + 40 bytes for
  // C. The backward pass of C needs its inner tensors (5 bytes), its output (40), its input (30) and the gradient of
  // its input (30), together 105 bytes. The backward pass of B needs its inner tensors (5), its input (20) and the
  // gradients of its output and input (30 + 20). The backward pass of A needs 5 + 10 bytes, and 20 bytes for the
  // gradient of its output.
  CHECK(least_bytes_bound(chain) == 105);
  // Now there is a shortcut from A to C. So the backward pass of C also needs the output of A (20 bytes) and the
  // gradient of this output (20 bytes).
  chain.stages[0].reads = {{0, true}};
  chain.stages[1].reads = {{1, true}};
  chain.stages[2].reads = {{1, true}, {2, true}};
  CHECK(least_bytes_bound(chain) == 145);
  // Now the backward pass of C does not read the output of A. So it needs the gradient of this output, but not the
  // output.
  chain.stages[2].reads = {{1, false}, {2, true}};
  CHECK(least_bytes_bound(chain) == 125);
  chain.stages[1].keep_workspace = 100;
  chain.stages[1].pass_workspace = 90;
  CHECK(least_bytes_bound(chain) == 20 + 30 + 90);
  // For 5 micro-batches side by side, the outputs of A and B have 20 + 30 bytes. The forward pass of B computes one
  // micro-batch at a time, so it needs at least 1/5 of these bytes: 10 bytes.
  chain.side_by_side = 5;
  CHECK(least_bytes_bound(chain) == 10 + 90);
}

/// Returns the chain with random shortcuts, over which some stages read a second, earlier boundary.
Chain with_shortcuts(test::Dice& dice, Chain chain) {
  for (std::size_t s = 0; s < chain.stages.size(); ++s) {
    const bool reads = chain.stages[s].reads_input;
    chain.stages[s].reads = {{static_cast<std::uint32_t>(s), reads}};
    if (s == 0 || !dice.one_in(2)) continue;
    const auto earlier = static_cast<std::uint32_t>(dice.below(s));
    chain.stages[s].reads.insert(chain.stages[s].reads.begin(), {earlier, dice.one_in(2)});
  }
  return chain;
}

TEST_CASE("no choice of fates needs fewer bytes than the bound") {
  test::Dice dice(1115);
  int equal = 0, compared = 0;
  for (int k = 0; k < 200; ++k) {
    Chain chain = test::random_chain(dice, 1 + dice.below(4));
    if (dice.one_in(2)) chain = with_shortcuts(dice, std::move(chain));
    chain.side_by_side = 1 + static_cast<std::int64_t>(dice.below(3));
    const std::int64_t bound = least_bytes_bound(chain);
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::uint64_t i = 0; i < test::fates_count(chain.stages.size()); ++i)
      least = std::min(
          least, memory_of(chain, tape_of(chain, test::fates_number(i, chain.stages.size()))).peak);
    CAPTURE(k, bound, least);
    CHECK(bound <= least);
    equal += bound == least;
    ++compared;
  }
  CAPTURE(equal);
  CHECK(equal >
        compared / 10);  // for many chains, a choice of fates needs no more bytes than the bound
}

/// Returns the message with which a model is refused within a budget. Its layers are `a`, `b`, `c`, `sum` and `d`. Each
/// layer reads the layer before it. If `shortcut` is true, `sum` reads `a`, too. The output of `b` has `elements_of_b`
/// elements of 4 bytes, and all other outputs have 2 kB. The backward pass of each layer reads the layer's inputs.
std::string refusal(const std::string& budget, bool shortcut, int elements_of_b = 500) {
  const auto layer = [](const std::string& name, int elements, const std::string& inputs) {
    return "      - {type: operator, flop: 1, parameters: 1, keeps: inputs, name: " + name +
           ", shape: [" + std::to_string(elements) + "], inputs: [" + inputs + "]}\n";
  };
  Value document = parse_text(
      "format: sluice-scenario/1\nmodel:\n  definition:\n    format: sluice-model/1\n"
      "    name: drawn\n    layers:\n      - {type: input, name: image, shape: [250]}\n" +
          layer("a", 500, "image") + layer("b", elements_of_b, "a") + layer("c", 500, "b") +
          layer("sum", 500, shortcut ? "c, a" : "c") + layer("d", 500, "sum") +
          "platform:\n  format: sluice-platform/1\n  name: small\n"
          "  devices: {gpu: {rate: {float32: 1GFLOP/s}, memory: {capacity: unlimited}}}\n"
          "  memories: {host: {capacity: unlimited}}\n"
          "  links: {host: {joins: [host, gpu], bandwidth: 1GB/s}}\n"
          "workload: {mode: training, batch: 1, optimizer: none}\nstages: {cut: per_layer}\n"
          "cost: {model: peak}\npolicy: {name: resident, overlap: false}\n"
          "fates: {strategy: optimal, budget: " +
          budget + "}\n",
      "drawn.yaml");
  try {
    make_plan(read_scenario(std::move(document), "drawn"));
  } catch (const Infeasible& infeasible) {
    return infeasible.what();
  }
  return "";
}

TEST_CASE("a refusal gives the least budget, or budgets that are proven not to be enough") {
  using Catch::Contains;
  // In a model without branches, the least bytes are known exactly. The backward pass of `d` holds four tensors of 2
  // kB: the outputs of `sum` and `d`, and the gradients of these two outputs.
  CHECK_THAT(refusal("1kB", /*shortcut=*/false),
             Contains("The least budget that is enough is 8000 B"));
  // The backward pass of `sum` holds five tensors of 2 kB: the outputs of `c` and `a`, and the gradients of the outputs
  // of `sum`, `c` and `a`. So no tape needs fewer bytes.
  CHECK_THAT(refusal("1kB", /*shortcut=*/true),
             Contains("whatever is kept") && Contains("needs 10000 B") &&
                 Contains("The least budget that is enough is 10000 B"));
  CHECK(refusal("10kB", /*shortcut=*/true).empty());
  // Now the output of `b` has 20 kB. The backward pass of `c` needs this output (20 kB), the gradient of this output
  // (20 kB) and the gradient of the output of `c` (2 kB). The device also holds the gradient of the output of `a` (2
  // kB), which the bound does not count.
  CHECK_THAT(refusal("41kB", /*shortcut=*/true, 5000),
             Contains("whatever is kept") && Contains("needs at least 42000 B") &&
                 Contains("The least budget that was found to be enough is 44000 B"));
  CHECK_THAT(refusal("43kB", /*shortcut=*/true, 5000),
             !Contains("whatever is kept") && Contains("needs 44000 B") &&
                 Contains("was found to be enough is 44000 B") &&
                 Contains("Only budgets below 42000 B (42 kB) are proven not to be enough"));
  CHECK(refusal("44kB", /*shortcut=*/true, 5000).empty());
}

}  // namespace
}  // namespace sluice
