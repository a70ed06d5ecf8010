// Tests the relaxation of fates/optimal/relaxation.hpp with numbers that are computed by hand: devices that take turns,
// and micro-batches side by side.
#include <catch2/catch.hpp>
#include <limits>
#include <utility>

#include "fates/optimal/bound.hpp"
#include "fates/optimal/in_turn.hpp"
#include "fates/optimal/memory_views.hpp"
#include "fates/optimal/relaxation.hpp"

namespace sluice {
namespace {

/// Returns a chain of stages whose outputs have 10 bytes each. A copy of an output takes 1 s in each direction. A
/// forward pass takes 100 s. Backward passes take no time, and do not read inputs. There are no inner tensors, no
/// gradients and no workspaces.
Chain plain_chain(std::size_t stages) {
  Chain chain;
  for (std::size_t s = 0; s < stages; ++s) {
    ChainStage stage;
    stage.forward_s = 100;
    stage.output = {10, 1, 1};
    stage.reads_input = false;
    chain.stages.push_back(stage);
  }
  chain.stages.back().reads_output = true;
  return chain;
}

double whole_bound(const Chain& chain, std::int64_t budget) {
  return whole_tensors_bound(chain, budget, FateWeights::serial(chain.stages.size()));
}

double part_bound(const Chain& chain, std::int64_t budget) {
  return FateRelaxation(chain, budget).best(FateWeights::serial(chain.stages.size())).value;
}

// Stages 0 and 2 are on device 0, and stages 1 and 3 on device 1. Stage 1 makes boundary 2. The backward passes of
// stages 1 and 2 read it, so both devices need it after the turning point, which is the backward pass of stage 3.
TEST_CASE("relaxation: each device that reads a boundary holds a copy of it or loads it") {
  Chain chain = plain_chain(4);
  chain.devices = 2;
  chain.stages[1].reads_output = chain.stages[2].reads_input = true;
  // The save belongs to the compulsory copies, because another device reads the boundary.
  chain.stages[1].output.save_s = 0;
  constexpr double passes = 400, working = 10;  // the last stage's output is on the device
  for (const auto& [copies, loads] : {std::pair{0, 2.0}, {1, 1.0}, {2, 0.0}}) {
    INFO(copies << " copies fit");
    const auto budget = static_cast<std::int64_t>(working) + 10 * copies;
    CHECK(whole_bound(chain, budget) == passes + loads);
    CHECK(part_bound(chain, budget) == Approx(passes + loads).epsilon(1e-9));
  }
  // With room for half of a copy, parts of tensors may be held.
  CHECK(whole_bound(chain, 15) == passes + 2);
  CHECK(part_bound(chain, 15) == Approx(passes + 1.5).epsilon(1e-9));
}

// As above. On device 0, 10 bytes stay. All memories together have room for one copy less. But device 1, which is the
// one of stage 3, has as much room as before: the view of its memory alone counts only what is there.
TEST_CASE("relaxation: what stays on a device leaves less room there") {
  Chain chain = plain_chain(4);
  chain.devices = 2;
  chain.stages[1].reads_output = chain.stages[2].reads_input = true;
  chain.stages[1].output.save_s = 0;
  chain.occupied = {10, 0};
  CHECK(whole_bound(chain, 20) == 402);
  CHECK(whole_bound(chain, 30) == 401);
  CHECK(whole_bound(chain, 40) == 400);
  const std::vector<Chain> views = memory_views(chain);
  // The last views are those of device 1 alone. There, all bytes count twice, and those of device 0 count nothing.
  CHECK(views.back().occupied == std::vector<std::int64_t>{0, 0});
  CHECK(views[3].occupied == std::vector<std::int64_t>{20, 0});
}

// Stage 1 can make boundary 2 again after the turning point, in 100 s, but only on its own device.
TEST_CASE("relaxation: a stage that runs again makes its output on its own device only") {
  Chain chain = plain_chain(4);
  chain.devices = 2;
  chain.stages[1].reads_output = chain.stages[2].reads_input = true;
  chain.stages[1].forward_s = 0.25;
  chain.stages[1].output.save_s = 0;
  // Stage 1 reads boundary 1 when it runs again. A load of boundary 1 takes 0.5 s.
  chain.stages[0].output = {10, 0, 0.5};
  CHECK(whole_bound(chain, 10) == 300.25 + 1 + (0.25 + 0.5));
  CHECK(whole_bound(chain, 20) == 300.25 + (0.25 + 0.5));
  CHECK(whole_bound(chain, 30) == 300.25);
}

// Four micro-batches run side by side. The last stage's outputs have 40 bytes together. During the first backward pass,
// one of them is on the device. The other three stay there, or they are in host memory, and then all four are copied.
TEST_CASE("relaxation: the last stage's outputs of all micro-batches stay, or they are copied") {
  Chain chain = plain_chain(1);
  chain.side_by_side = 4;
  chain.stages[0].output = {40, 4, 4};
  CHECK(fate_bound(chain, 9, Copies::serial) == std::numeric_limits<double>::infinity());
  CHECK(fate_bound(chain, 10, Copies::serial) == Approx(108));
  CHECK(fate_bound(chain, 39, Copies::serial) == Approx(108));
  CHECK(fate_bound(chain, 40, Copies::serial) == Approx(100));
}

TEST_CASE("optimal copies the last stage's outputs if those of all micro-batches do not fit") {
  Chain chain = plain_chain(2);
  chain.side_by_side = 4;
  for (ChainStage& stage : chain.stages) stage.output = {40, 4, 4};
  chain.stages[1].turn = {1, 1};  // weights take turns
  chain.stages[1].backward_workspace = 30;
  const FateRequest request{.chain = chain, .overlap = false};
  InTurnSearch search(request);
  // The last backward pass needs 30 bytes and the outputs of four micro-batches. In host memory, the outputs come one
  // by one.
  const Tape kept = alike_tapes(chain).front();
  CHECK(memory_of(chain, kept).peak == 40 + 30);
  CHECK(search.seconds(70) == serial_seconds(chain, kept));
  const Tape tape = search.within(60);
  REQUIRE_FALSE(tape.empty());
  CHECK(memory_of(chain, tape).peak <= 60);
  CHECK(serial_seconds(chain, tape) == Approx(serial_seconds(chain, kept) + 4 + 4));
}

}  // namespace
}  // namespace sluice
