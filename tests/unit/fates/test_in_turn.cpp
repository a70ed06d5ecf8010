// Compares `optimal` on devices on which copies and computation take turns with a search of all orders of passes.
#include <catch2/catch.hpp>
#include <limits>

#include "fates/optimal/frontier.hpp"
#include "fates/optimal/in_turn.hpp"
#include "support/exact_chain.hpp"
#include "support/random_chain.hpp"

namespace sluice {
namespace {

/// Returns a random chain of stages whose tensors have few bytes. A copy takes so long that no schedule copies a
/// tensor.
Chain chain_without_copies(test::Dice& dice, std::size_t stages, std::uint64_t most_bytes) {
  constexpr double copy_s = 1e6;
  Chain chain;
  for (std::size_t s = 0; s < stages; ++s) {
    ChainStage stage;
    stage.name = "s" + std::to_string(s);
    stage.forward_s = stage.backward_s = static_cast<double>(1 + dice.below(20));
    stage.output = {1 + static_cast<std::int64_t>(dice.below(most_bytes)), copy_s, copy_s};
    stage.inner = {static_cast<std::int64_t>(dice.below(most_bytes)), copy_s, copy_s};
    stage.reads_output = s + 1 == stages;
    stage.gradient = s + 1 == stages ? 0 : stage.output.bytes;
    chain.stages.push_back(stage);
  }
  return chain;
}

// Many of the fastest orders drop a boundary before its backward pass and make it again (partial segments in
// fates/optimal/frontier_solver.hpp).
TEST_CASE(
    "optimal finds the fastest order of all passes if copies do not overlap and take too long") {
  test::Dice dice(77);
  int compared = 0;
  for (int round = 0; round < 120; ++round) {
    const std::size_t stages = round % 20 == 0 ? 6 : 2 + dice.below(4);
    const Chain chain = chain_without_copies(dice, stages, dice.one_in(2) ? 4 : 10);
    const FateRequest request{.chain = chain, .overlap = false};
    InTurnSearch search(request);
    const Frontier frontier(chain);
    for (const Frontier::Point& point : frontier.points()) {
      const double least = test::least_seconds_without_copies(chain, point.peak);
      if (least == std::numeric_limits<double>::infinity()) continue;  // only copies make it fit
      CAPTURE(round, point.peak);
      CHECK(search.bound(point.peak) <= least * (1 + 1e-9));
      CHECK(search.seconds(point.peak) == Approx(least).epsilon(1e-9));
      ++compared;
    }
  }
  CHECK(compared > 500);
}

// A schedule of a chain of 72 stages runs passes of each stage again. The frontier splits segments of the whole chain
// at about 64 boundaries only.
TEST_CASE(
    "in a chain of more stages than splits, the bound of optimal does not come from the frontier") {
  test::Dice dice(78);
  Chain chain = chain_without_copies(dice, 72, 2);
  for (ChainStage& stage : chain.stages) stage.inner.bytes = 0;
  const FateRequest request{.chain = chain, .overlap = false};
  InTurnSearch search(request);
  const Frontier frontier(chain, {.splits = 1000});
  int slower = 0;
  for (const Frontier::Point& point : frontier.points()) {
    CHECK(search.bound(point.peak) <= point.seconds * (1 + 1e-9));
    if (search.seconds(point.peak) > point.seconds * (1 + 1e-9)) ++slower;
  }
  CHECK(slower > 0);
}

}  // namespace
}  // namespace sluice
