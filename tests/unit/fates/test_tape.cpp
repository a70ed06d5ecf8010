#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "fates/device_tape.hpp"
#include "fates/optimal/least_bytes.hpp"
#include "fates/tape.hpp"
#include "support/random_chain.hpp"

namespace sluice {
namespace {

using Kind = TapeOp::Kind;

const TapeOp load0{Kind::load, 0, false}, save1{Kind::save, 1, false}, load1{Kind::load, 1, false};

TapeOp pass(std::uint32_t s) {
  return {Kind::forward, s, false};
}
TapeOp keep(std::uint32_t s) {
  return {Kind::forward, s, true};
}
TapeOp back(std::uint32_t s) {
  return {Kind::backward, s, false};
}

/// Returns a chain in which the bytes of each tensor are a different power of 10. So each digit of a sum shows whether
/// a certain tensor is counted. The input has 1 byte. The outputs have 10 and 100 bytes, the inner tensors 1000 and
/// 10000 bytes. The gradient of boundary 1 has 100000 bytes.
Chain two_stages() {
  Chain chain;
  chain.input = {1, 0.5, 0.25};
  ChainStage first{.name = "a", .forward_s = 1, .backward_s = 2};
  first.output = {10, 4, 8};
  first.inner = {1000, 16, 32};
  first.gradient = 100'000;
  ChainStage second = first;
  second.output = {100, 64, 128};
  second.inner = {10'000, 256, 512};
  second.gradient = 0;
  second.reads_output = true;
  chain.stages = {first, second};
  return chain;
}

/// The comments of fates/tape.hpp say how long a tensor is on the device. The functions below are slow, because they
/// follow these comments word by word. An event means that an operation either brings a tensor to the device or reads
/// it.
struct Event {
  int tensor;
  bool brings;
};

/// Returns whether a backward pass before operation `at` made or added to the gradient of a boundary.
bool has_gradient(const Chain& chain, const Tape& tape, std::size_t boundary, std::size_t at) {
  bool found = false;
  for (std::size_t i = 0; i < at; ++i)
    if (tape[i].kind == Kind::backward)
      chain.each_read(tape[i].number, [&](std::size_t b, bool) { found = found || b == boundary; });
  return found;
}

std::vector<Event> events(const Chain& chain, const Tape& tape, std::size_t at) {
  const TapeOp& op = tape[at];
  const int n = static_cast<int>(chain.stages.size());
  const int s = static_cast<int>(op.number);
  const int moved = op.inner ? 100 + s : s;
  if (op.kind == Kind::save) return {{moved, false}};
  if (op.kind == Kind::load) return {{moved, true}};
  std::vector<Event> list;
  if (op.kind == Kind::forward) {
    list = {{s + 1, true}};
    chain.each_read(op.number, [&](std::size_t b, bool) {
      list.push_back({static_cast<int>(b), false});
    });
    if (op.inner) list.push_back({100 + s, true});
    return list;
  }
  if (s + 1 < n) list.push_back({200 + s + 1, false});
  list.push_back({100 + s, false});
  if (chain.stages[op.number].reads_output) list.push_back({s + 1, false});
  chain.each_read(op.number, [&](std::size_t b, bool backward) {
    const int read = static_cast<int>(b);
    if (backward) list.push_back({read, false});
    if (b > 0) list.push_back({200 + read, !has_gradient(chain, tape, b, at)});
  });
  return list;
}

std::int64_t bytes_of(const Chain& chain, int tensor) {
  if (tensor < 100) return chain.boundary(static_cast<std::size_t>(tensor)).bytes;
  if (tensor < 200) return chain.stages[static_cast<std::size_t>(tensor - 100)].inner.bytes;
  return chain.stages[static_cast<std::size_t>(tensor - 201)].gradient;
}

bool touches(const Chain& chain, const Tape& tape, std::size_t at, int tensor, bool brings) {
  for (const Event& event : events(chain, tape, at))
    if (event.tensor == tensor && event.brings == brings) return true;
  return false;
}

bool alive(const Chain& chain, const Tape& tape, int tensor, std::size_t at) {
  if (touches(chain, tape, at, tensor, /*brings=*/true) ||
      touches(chain, tape, at, tensor, /*brings=*/false))
    return true;
  bool came = false;
  for (std::size_t i = 0; i < at; ++i)
    came = came || touches(chain, tape, i, tensor, /*brings=*/true);
  if (!came) return false;
  for (std::size_t i = at; i < tape.size(); ++i) {
    if (touches(chain, tape, i, tensor, /*brings=*/true)) return false;
    if (touches(chain, tape, i, tensor, /*brings=*/false)) return true;
  }
  return false;
}

std::int64_t slow_bytes(const Chain& chain, const Tape& tape, std::size_t at) {
  const TapeOp& op = tape[at];
  const int n = static_cast<int>(chain.stages.size());
  std::int64_t total = 0;
  for (int first : {0, 100, 200})
    for (int tensor = first; tensor <= first + n; ++tensor)
      if (alive(chain, tape, tensor, at)) total += bytes_of(chain, tensor);
  if (op.kind == Kind::save || op.kind == Kind::load) return total;
  const ChainStage& stage = chain.stages[op.number];
  if (op.kind == Kind::backward) return total + stage.backward_workspace;
  if (stage.inner.bytes == 0) return total + std::min(stage.keep_workspace, stage.pass_workspace);
  return total + (op.inner ? stage.keep_workspace : stage.pass_workspace);
}

/// Lets each stage also read some of the boundaries before its own.
void add_branches(test::Dice& dice, Chain& chain) {
  for (std::uint32_t s = 0; s < chain.stages.size(); ++s) {
    ChainStage& stage = chain.stages[s];
    for (std::uint32_t b = 0; b < s; ++b)
      if (dice.one_in(3)) stage.reads.push_back({b, dice.one_in(2)});
    stage.reads.push_back({s, stage.reads_input});
    stage.reads_input = std::ranges::any_of(stage.reads, &ChainRead::backward);
  }
}

TEST_CASE(
    "tape: if all tensors are kept, the bytes of each operation and the seconds equal those computed by hand") {
  const Chain chain = two_stages();
  const Tape tape = {load0, keep(0), keep(1), back(1), back(0)};
  const TapeMemory memory = memory_of(chain, tape);
  // The first operation brings the input to the device. The second operation adds boundary 1 and the inner tensors of
  // stage 0. The third operation adds boundary 2 and the inner tensors of stage 1. The fourth operation adds the
  // gradient of boundary 1. During the fifth operation, the device holds only the input, the inner tensors of stage 0
  // and the gradient of boundary 1.
  CHECK(memory.bytes == std::vector<std::int64_t>{1, 1011, 11'111, 111'111, 101'001});
  CHECK(memory.peak == 111'111);
  CHECK(serial_seconds(chain, tape) == 6.25);
}

TEST_CASE("tape: a stage that runs twice drops its inner tensors between the two runs") {
  const Chain chain = two_stages();
  const Tape tape = {load0, pass(0), keep(1), back(1), keep(0), back(0)};
  // The second forward pass of stage 0 makes boundary 1 again. No later operation reads boundary 1, so it is freed at
  // once.
  CHECK(memory_of(chain, tape).bytes ==
        std::vector<std::int64_t>{1, 11, 10'111, 110'111, 101'011, 101'001});
  CHECK(serial_seconds(chain, tape) == 7.25);
}

TEST_CASE(
    "tape: a tensor that is saved and loaded is not on the device between the save and the load") {
  const Chain chain = two_stages();
  const Tape tape = {
      load0, keep(0), {Kind::save, 0, true}, keep(1), back(1), {Kind::load, 0, true}, back(0)};
  CHECK(memory_of(chain, tape).bytes ==
        std::vector<std::int64_t>{1, 1011, 1011, 10'111, 110'111, 101'001, 101'001});
  CHECK(serial_seconds(chain, tape) == 6.25 + 48);
}

TEST_CASE("tape: the workspace of an operation counts only while the operation runs") {
  Chain chain = two_stages();
  chain.stages[0].pass_workspace = 1'000'000;
  chain.stages[0].keep_workspace = 2'000'000;
  chain.stages[0].backward_workspace = 3'000'000;
  const Tape tape = {load0, pass(0), keep(1), back(1), keep(0), back(0)};
  CHECK(memory_of(chain, tape).bytes ==
        std::vector<std::int64_t>{1, 1'000'011, 10'111, 110'111, 2'101'011, 3'101'001});
}

TEST_CASE("tape: without inner tensors, a forward pass needs the smaller of its two workspaces") {
  Chain chain = two_stages();
  chain.stages[0].inner = {};
  chain.stages[0].pass_workspace = 1'000'000;
  chain.stages[0].keep_workspace = 2'000'000;
  for (const bool keeps : {false, true}) {
    const Tape tape = {load0, {Kind::forward, 0, keeps}, keep(1), back(1), back(0)};
    CHECK(memory_of(chain, tape).peak == 1'000'011);
  }
}

TEST_CASE("tape: if two devices take turns, the bytes are twice those of the fuller device") {
  Chain chain = two_stages();
  chain.devices = 2;
  const Tape tape = {load0, keep(0), keep(1), back(1), back(0)};
  // Device 0 computes stage 0, and device 1 computes stage 1. Operation by operation, the fuller device holds:
  // 1. device 0: the input
  // 2. device 0: the input, the inner tensors of stage 0 and boundary 1, which then goes to device 1
  // 3. device 1: boundaries 1 and 2, and the inner tensors of stage 1
  // 4. device 1: the same and the gradient of boundary 1, which then goes to device 0
  // 5. device 0: the input, the inner tensors of stage 0 and the gradient of boundary 1
  CHECK(memory_of(chain, tape).bytes ==
        std::vector<std::int64_t>{2 * 1, 2 * 1011, 2 * 10'110, 2 * 110'110, 2 * 101'001});
  CHECK(memory_of(chain, tape).peak == 2 * 110'110);
}

TEST_CASE("tape: tensors that stay on a device take room there during the whole tape") {
  Chain chain = two_stages();
  chain.devices = 2;
  // As above. On device 0, 100,000 bytes more stay than on device 1. It is the fuller device except in operation 4.
  chain.occupied = {100'000, 0};
  const Tape tape = {load0, keep(0), keep(1), back(1), back(0)};
  CHECK(memory_of(chain, tape).bytes ==
        std::vector<std::int64_t>{2 * 100'001, 2 * 101'011, 2 * 101'001, 2 * 110'110, 2 * 201'001});
  CHECK(memory_of(chain, tape).peak == 2 * 201'001);
  // The backward pass of stage 0 needs its input, its inner tensors, and the gradient of boundary 1: 101,001 bytes.
  CHECK(least_bytes_bound(chain) == 2 * 201'001);
}

/// Lets the weights of a stage take turns. They have this many bytes, which the workspaces of the stage include.
void take_turns(ChainStage& stage, std::int64_t bytes) {
  stage.turn.bytes = bytes;
  for (std::int64_t* workspace :
       {&stage.pass_workspace, &stage.keep_workspace, &stage.backward_workspace})
    *workspace = bytes;
}

TEST_CASE("tape: weights that take turns are on the device during the whole run of their stage") {
  const Tape tape = {load0, keep(0), keep(1), back(1), back(0)};
  Chain chain = two_stages();
  // The weights of stage 1 stay, so the passes of stage 1 do not end the run of stage 0.
  take_turns(chain.stages[0], 1'000'000);
  CHECK(memory_of(chain, tape).bytes ==
        std::vector<std::int64_t>{1, 1'001'011, 1'011'111, 1'111'111, 1'101'001});
  CHECK(memory_of(chain, tape).peak == 1'111'111);
  // If the weights of stage 1 take turns, too, they replace those of stage 0.
  take_turns(chain.stages[1], 2'000'000);
  CHECK(memory_of(chain, tape).bytes ==
        std::vector<std::int64_t>{1, 1'001'011, 2'011'111, 2'111'111, 1'101'001});
  // The run of stage 1 begins after the first pass of stage 0, and ends before the last.
  take_turns(chain.stages[0], 0);
  CHECK(memory_of(chain, tape).bytes ==
        std::vector<std::int64_t>{1, 1011, 2'011'111, 2'111'111, 101'001});
}

TEST_CASE("tape: weights that take turns stay on their device while another device computes") {
  Chain chain = two_stages();
  chain.devices = 2;
  take_turns(chain.stages[0], 1'000'000);
  // Device 0 has the weights from its first pass to its last pass. It also has the input and the inner tensors of stage
  // 0. So it is then the fuller device.
  CHECK(
      memory_of(chain, {load0, keep(0), keep(1), back(1), back(0)}).bytes ==
      std::vector<std::int64_t>{2 * 1, 2 * 1'001'011, 2 * 1'001'001, 2 * 1'001'001, 2 * 1'101'001});
}

TEST_CASE("tape: a load brings a boundary to one device, and the other device keeps its own") {
  Chain chain = two_stages();
  chain.devices = 2;
  chain.stages[0].reads_output = true;  // so both backward passes read boundary 1
  // As above, but device 0 needs boundary 1 again in the last operation. The load before it brings boundary 1 to device
  // 0, while device 1 keeps its own until its backward pass.
  const Tape receiver_keeps = {load0, keep(0), save1, keep(1), back(1), load1, back(0)};
  CHECK(memory_of(chain, receiver_keeps).bytes ==
        std::vector<std::int64_t>{2 * 1, 2 * 1011, 2 * 1011, 2 * 10'110, 2 * 110'110, 2 * 1011,
                                  2 * 101'011});
  // Here device 1 loads boundary 1, and device 0 keeps its own. Device 0 would be the fuller device if stage 1 had no
  // inner tensors.
  chain.stages[1].inner.bytes = 0;
  const Tape sender_keeps = {load0, keep(0), save1, keep(1), load1, back(1), back(0)};
  CHECK(memory_of(chain, sender_keeps).bytes ==
        std::vector<std::int64_t>{2 * 1, 2 * 1011, 2 * 1011, 2 * 1011, 2 * 1011, 2 * 100'110,
                                  2 * 101'011});
  // Each of the two tapes has one load of 8 s, and one save of 4 s.
  CHECK(serial_seconds(chain, receiver_keeps) == 6.25 + 4 + 8);
  CHECK(serial_seconds(chain, sender_keeps) == 6.25 + 4 + 8);
}

TEST_CASE("tape: on devices with memories of their own, each device loads what has left it") {
  Chain chain = two_stages();
  chain.stages[0].reads_output = true;
  // In one memory, a single load serves both backward passes. Of two devices, each needs one.
  const Tape loaded = {load0, keep(0), save1, keep(1), load1, back(1), back(0)};
  CHECK(on_devices(chain, 1, loaded) == loaded);
  CHECK(on_devices(chain, 2, loaded) ==
        Tape{load0, keep(0), save1, keep(1), load1, back(1), load1, back(0)});
  // Stage 0 runs again, on device 0. Device 1 loads boundary 1, which was saved on its way there.
  const Tape made_again = {load0, keep(0), keep(1), load0, keep(0), back(1), back(0)};
  CHECK(on_devices(chain, 2, made_again) ==
        Tape{load0, keep(0), save1, keep(1), load0, keep(0), load1, back(1), back(0)});
}

TEST_CASE("tape: an input of 0 bytes needs no load") {
  Chain chain = two_stages();
  chain.input.bytes = 0;
  CHECK(memory_of(chain, {keep(0), keep(1), back(1), back(0)}).peak == 111'110);
}

TEST_CASE("tape: reading a tensor that is not on the device is an internal error") {
  const Chain chain = two_stages();
  const std::vector<Tape> wrong = {{pass(0)},                                // no input
                                   {load0, pass(1)},                         // no boundary 1
                                   {load0, pass(0), pass(1), back(1)},       // no inner tensors
                                   {load0, keep(0), back(0)},                // no gradient
                                   {load0, keep(0), {Kind::load, 0, true}},  // not saved
                                   {load0, {Kind::save, 0, true}},           // not made
                                   {load0, {Kind::forward, 2, true}},        // no such stage
                                   {load0, {Kind::save, 3, false}}};         // no such boundary
  for (const Tape& tape : wrong) CHECK_THROWS_AS(memory_of(chain, tape), InternalError);
}

TEST_CASE(
    "tape: bytes equal the bytes of a slow implementation that follows the definition of a tape word by word") {
  test::Dice dice(1);
  for (int round = 0; round < 400; ++round) {
    const std::size_t stages = 1 + dice.below(5);
    Chain chain = test::random_chain(dice, stages);
    if (dice.one_in(2)) add_branches(dice, chain);
    const Tape tape =
        tape_of(chain, test::fates_number(dice.below(test::fates_count(stages)), stages));
    const TapeMemory memory = memory_of(chain, tape);
    REQUIRE(memory.bytes.size() == tape.size());
    for (std::size_t at = 0; at < tape.size(); ++at)
      CHECK(memory.bytes[at] == slow_bytes(chain, tape, at));
  }
}

}  // namespace
}  // namespace sluice
