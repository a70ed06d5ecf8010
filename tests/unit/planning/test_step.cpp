// Tests the program of a training step. If a device needs a tensor of another device, the tensor is sent through host
// memory. Host memory never gets a second copy of a tensor.
#include "planning/training/step.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using Kind = TapeOp::Kind;

/// Returns three stages A, B and C. Their outputs have 2, 3 and 1 kB, and the input has 1 kB. C reads the outputs of B
/// and of A.
Chain with_shortcut() {
  Chain chain;
  chain.input.bytes = 1000;
  for (const std::int64_t bytes : {2000, 3000, 1000}) {
    ChainStage stage;
    stage.output.bytes = bytes;
    stage.gradient = bytes;
    chain.stages.push_back(stage);
  }
  chain.stages[2].gradient = 0;
  chain.stages[2].reads_output = true;
  chain.stages[0].reads = {{0, true}};
  chain.stages[1].reads = {{1, true}};
  chain.stages[2].reads = {{1, true}, {2, true}};
  return chain;
}

/// Returns all saves of a step in their order, each as "NAME BYTES".
std::vector<std::string> saves_of(const Program& step) {
  std::vector<std::string> saves;
  for (const Program::Operation& operation : step.operations)
    for (const std::uint32_t saved : operation.saves)
      saves.push_back(name_of(step.instances[saved]) + " " +
                      std::to_string(step.instances[saved].bytes));
  return saves;
}

TEST_CASE(
    "if the tape saves a boundary that was already sent through host memory, the boundary is not saved again") {
  const Chain chain = with_shortcut();
  const std::vector<StageState> stages(3);
  // Device 0 computes stages A and C, and device 1 computes stage B: F0, F2, B2 and B0 run on device 0, and F1 and B1 on
  // device 1.
  //   F1 needs A's output of 2 kB, which is on device 0. So this output is saved after F0. F2 finds it on device 0.
  //   F2 needs B's output of 3 kB, which is on device 1. So this output is saved after F1.
  //   B2 finds C's output on device 0, and makes two gradients there: that of B's output, and that of A's output. B1
  //   needs the first and adds to the second. So both are saved after B2, 3 kB and 2 kB.
  //   F0 runs again. According to the tape, A's output is then saved again, and loaded for B1. But host memory already
  //   has a copy, so this save is left out.
  //   B0 needs the gradient of A's output, to which B1 has added on device 1. So it is saved once more after B1.
  const Tape tape = {{Kind::load, 0},          {Kind::forward, 0},  {Kind::forward, 1},
                     {Kind::forward, 2, true}, {Kind::backward, 2}, {Kind::load, 0},
                     {Kind::forward, 0, true}, {Kind::save, 1},     {Kind::load, 1},
                     {Kind::backward, 1},      {Kind::load, 0},     {Kind::backward, 0}};
  const Program step = make_step({.chain = chain, .tape = tape, .stages = stages, .devices = 2});
  CHECK(saves_of(step) == std::vector<std::string>{"boundary.0.0 2000", "boundary.1.0 3000",
                                                   "gradient.2.0 3000", "gradient.1.0 2000",
                                                   "gradient.1.0 2000"});
}

TEST_CASE("a load brings a boundary to one device, unless the tape counts all memories as one") {
  Chain chain = with_shortcut();
  const std::vector<StageState> stages(3);
  // A's output goes to device 1 for F1. Device 0 loads it again for B2. Device 1 has kept its own for B1. If the memories
  // count as one, A's output has left device 1, too, so device 1 loads it again.
  const Tape tape = {{Kind::load, 0},     {Kind::forward, 0},  {Kind::save, 1},
                     {Kind::forward, 1},  {Kind::forward, 2},  {Kind::load, 1},
                     {Kind::backward, 2}, {Kind::backward, 1}, {Kind::backward, 0}};
  for (const auto& [memories, loads] : {std::pair{2, 2}, {1, 3}}) {
    chain.devices = static_cast<std::size_t>(memories);
    const Program step = make_step({.chain = chain, .tape = tape, .stages = stages, .devices = 2});
    int loaded = 0;
    for (const Program::Operation& operation : step.operations)
      for (const std::uint32_t number : operation.loads)
        loaded += name_of(step.instances[number]) == "boundary.0.0";
    CHECK(loaded == loads);
  }
}

TEST_CASE("a step first saves what another device needs next, and then other tensors") {
  Chain chain = with_shortcut();
  chain.stages[0].inner.bytes = 500;
  std::vector<StageState> stages(3);
  for (StageState& stage : stages) stage.gradients = 7;
  // The tape offloads the inner tensors of A. Stage B needs A's output, so this output is saved before them. After each
  // backward pass, the sums of gradients of the stage's weights are saved (7 bytes). Before them, those gradients are saved
  // which the other device needs: after B2, the gradients of B's and A's outputs. B1 adds to the latter.
  const Tape tape = {{Kind::load, 0},     {Kind::forward, 0, true}, {Kind::save, 0, true},
                     {Kind::forward, 1},  {Kind::forward, 2, true}, {Kind::backward, 2},
                     {Kind::backward, 1}, {Kind::load, 0, true},    {Kind::backward, 0}};
  const Program step = make_step(
      {.chain = chain, .tape = tape, .stages = stages, .weights_stay = false, .devices = 2});
  CHECK(saves_of(step) ==
        std::vector<std::string>{"boundary.0.0 2000", "inner.0.0 500", "boundary.1.0 3000",
                                 "gradient.2.0 3000", "gradient.1.0 2000", "gradients.2 7",
                                 "gradient.1.0 2000", "gradients.1 7", "gradients.0 7"});
}

}  // namespace
}  // namespace sluice
