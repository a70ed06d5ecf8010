#include <catch2/catch.hpp>
#include <sstream>

#include "base/error.hpp"
#include "fates/choices.hpp"
#include "support/random_chain.hpp"

namespace sluice {
namespace {

constexpr Fate K = Fate::keep, R = Fate::recompute, O = Fate::offload;

/// Returns a chain in which every stage takes 1 s forward and 2 s backward. Every tensor has 1 byte and takes 1 s to
/// save and 1 s to load.
Chain plain(std::size_t stages) {
  Chain chain;
  chain.input = {1, 1, 1};
  for (std::size_t s = 0; s < stages; ++s) {
    ChainStage stage{.forward_s = 1, .backward_s = 2};
    stage.output = stage.inner = {1, 1, 1};
    stage.gradient = s + 1 == stages ? 0 : 1;
    chain.stages.push_back(stage);
  }
  return chain;
}

/// Returns the operations of a tape as words. F3 is a forward pass of stage 3 that keeps the inner tensors. f3 is a
/// forward pass of stage 3 that drops the inner tensors. B3 is the backward pass of stage 3. s3 saves boundary 3, and
/// l3 loads it. S3 saves the inner tensors of stage 3, and L3 loads them.
std::string text(const Tape& tape) {
  std::ostringstream out;
  for (const TapeOp& op : tape) {
    constexpr const char* words[] = {"fF", "BB", "sS", "lL"};
    out << (out.tellp() > 0 ? " " : "") << words[static_cast<int>(op.kind)][op.inner] << op.number;
  }
  return out.str();
}

std::string tape(const Chain& chain, const std::vector<Fate>& fates) {
  return text(tape_of(chain, fates));
}

TEST_CASE("fates: if all stages keep their tensors, only the input is copied") {
  CHECK(tape(plain(3), {K, K, K}) == "l0 F0 F1 F2 B2 B1 B0");
}

TEST_CASE("fates: offload moves the inner tensors once and the output once") {
  CHECK(tape(plain(3), {K, O, K}) == "l0 F0 F1 S1 s2 F2 l2 B2 L1 B1 B0");
  // In this chain, no operation reads the output of the last stage. So this output is not saved.
  CHECK(tape(plain(2), {K, O}) == "l0 F0 F1 S1 L1 B1 B0");
}

TEST_CASE("fates: the input of the first stage is loaded a second time without a save") {
  CHECK(tape(plain(2), {O, K}) == "l0 F0 S0 s1 F1 l1 B1 L0 l0 B0");
}

TEST_CASE(
    "fates: consecutive stages are recomputed from the nearest boundary that stayed on the device") {
  CHECK(tape(plain(4), {K, R, R, K}) == "l0 F0 f1 f2 F3 B3 F1 F2 B2 B1 B0");
}

TEST_CASE("fates: consecutive stages are recomputed from a boundary that is loaded again") {
  CHECK(tape(plain(4), {O, R, R, K}) == "l0 F0 S0 s1 f1 f2 F3 B3 l1 F1 F2 B2 B1 L0 l0 B0");
}

TEST_CASE(
    "fates: the input of a stage that is kept or offloaded is made again when the stage before is recomputed") {
  CHECK(tape(plain(4), {K, R, O, K}) == "l0 F0 f1 F2 S2 s3 F3 l3 B3 F1 L2 B2 B1 B0");
  // The backward pass of the last stage comes right after its forward pass. So the input of the last stage stays on the
  // device, although the stage is offloaded.
  CHECK(tape(plain(3), {R, R, O}) == "l0 f0 f1 F2 S2 L2 B2 F0 F1 B1 B0");
}

/// Returns the chain of plain(), but without inner tensors.
Chain hollow(std::size_t stages) {
  Chain chain = plain(stages);
  for (ChainStage& stage : chain.stages) stage.inner = {};
  return chain;
}

TEST_CASE("fates: a tensor that no action reads is not recomputed") {
  // Without inner tensors, the backward pass of a stage reads only the stage's input. The backward pass of the last
  // stage reads the stage's output, too.
  CHECK(tape(hollow(4), {K, R, R, K}) == "l0 F0 f1 f2 F3 B3 F1 B2 B1 B0");
  CHECK(text(checkpoint_tape(hollow(3))) == "l0 f0 f1 f2 B2 B1 B0");
  CHECK(text(sqrt_tape(hollow(9))) ==
        "l0 f0 f1 f2 f3 f4 f5 F6 F7 F8 B8 B7 B6 F3 F4 B5 B4 B3 F0 F1 B2 B1 B0");
  // A stage whose backward pass reads neither its input nor its inner tensors does not run again.
  Chain chain = hollow(4);
  chain.stages[1].reads_input = chain.stages[2].reads_input = false;
  CHECK(tape(chain, {K, R, K, K}) == "l0 F0 f1 F2 F3 B3 B2 B1 B0");
  // Now the backward pass of stage 1 reads the stage's output. If this output was not kept, stage 1 makes it again.
  chain.stages[1].reads_output = true;
  CHECK(tape(chain, {K, R, K, K}) == "l0 F0 f1 F2 F3 B3 B2 F1 B1 B0");
  CHECK(text(tape_of(chain, Choices{{K, R, K, K}, {K, K, K, K, K}})) ==
        "l0 F0 f1 F2 F3 B3 B2 B1 B0");
  CHECK(text(tape_of(chain, Choices{{K, R, K, K}, {K, K, O, K, K}})) ==
        "l0 F0 f1 s2 F2 F3 B3 B2 l2 B1 B0");
}

/// The operation at index `at` is a forward pass. Returns whether a later operation reads the output or the inner
/// tensors of this pass, before another operation makes or loads them again.
bool is_read(const Chain& chain, const Tape& tape, std::size_t at) {
  const std::size_t s = tape[at].number;
  bool output = true, inner = tape[at].inner && chain.stages[s].inner.bytes > 0;
  for (std::size_t i = at + 1; i < tape.size(); ++i) {
    const TapeOp& op = tape[i];
    const std::size_t b = op.number;
    if (op.kind == TapeOp::Kind::forward) {
      if (output && b == s + 1) return true;
      if (b == s) output = false, inner = inner && !op.inner;
    } else if (op.kind == TapeOp::Kind::backward) {
      if (inner && b == s) return true;
      if (output && b == s + 1 && chain.stages[b].reads_input) return true;
      if (output && b == s && chain.stages[b].reads_output) return true;
    } else if (op.kind == TapeOp::Kind::save) {
      if (op.inner ? inner && b == s : output && b == s + 1) return true;
    } else {
      if (op.inner ? b == s : b == s + 1) (op.inner ? inner : output) = false;
    }
  }
  return false;
}

TEST_CASE("fates: no assignment runs a stage again if no action reads its results") {
  test::Dice dice(9);
  int again = 0;
  for (int round = 0; round < 60; ++round) {
    const std::size_t stages = 1 + dice.below(6);
    const Chain chain = test::random_chain(dice, stages);
    std::vector<Tape> tapes = alike_tapes(chain);
    for (std::uint64_t i = 0; i < test::fates_count(stages); i += 1 + dice.below(3))
      tapes.push_back(tape_of(chain, test::fates_number(i, stages)));
    for (const Tape& made : tapes) {
      std::vector<int> forwards(stages);
      for (std::size_t at = 0; at < made.size(); ++at) {
        if (made[at].kind != TapeOp::Kind::forward || ++forwards[made[at].number] < 2) continue;
        CHECK(is_read(chain, made, at));
        ++again;
      }
    }
  }
  CHECK(again > 1000);
}

TEST_CASE(
    "fates: recomputed stages at the end of the chain run twice although no other stage follows") {
  CHECK(tape(plain(3), {K, R, R}) == "l0 F0 f1 f2 F1 F2 B2 B1 B0");
}

TEST_CASE(
    "fates: an input that the backward pass does not read is dropped, and an output that it "
    "reads is kept or made again") {
  Chain chain = plain(3);
  chain.stages[2].reads_input = false;
  CHECK(tape(chain, {K, O, K}) == "l0 F0 F1 S1 F2 B2 L1 B1 B0");
  chain.stages[1].reads_output = true;
  CHECK(tape(chain, {K, O, K}) == "l0 F0 F1 S1 s2 F2 B2 l2 L1 B1 B0");
  chain.stages[2].reads_input = true;
  CHECK(tape(chain, {K, O, K}) == "l0 F0 F1 S1 s2 F2 l2 B2 L1 B1 B0");
  CHECK(tape(chain, {K, O, R}) == "l0 F0 F1 S1 s2 f2 l2 F2 B2 L1 B1 B0");
}

TEST_CASE("fates: tensors of 0 bytes are not copied") {
  Chain chain = plain(3);
  chain.input.bytes = chain.stages[0].inner.bytes = chain.stages[1].output.bytes = 0;
  CHECK(tape(chain, {O, O, K}) == "F0 s1 F1 S1 F2 B2 L1 l1 B1 B0");
}

TEST_CASE("fates: sqrt runs every segment except the last segment again") {
  CHECK(text(sqrt_tape(plain(9))) ==
        "l0 f0 f1 f2 f3 f4 f5 F6 F7 F8 B8 B7 B6 F3 F4 F5 B5 B4 B3 F0 F1 F2 B2 B1 B0");
  CHECK(text(sqrt_tape(plain(1))) == "l0 F0 B0");
  // For 5 stages, there are round(sqrt(5)) = 2 segments. Stages 0 and 1 are one segment, and stages 2 to 4 are the
  // other.
  CHECK(text(sqrt_tape(plain(5))) == "l0 f0 f1 F2 F3 F4 B4 B3 B2 F0 F1 B1 B0");
}

TEST_CASE("fates: a checkpoint may be offloaded") {
  const Choices choices{{R, R, R, K}, {K, R, O, K, K}};
  CHECK(text(tape_of(plain(4), choices)) == "l0 f0 f1 s2 f2 F3 B3 l2 F2 B2 F0 F1 B1 B0");
}

TEST_CASE("fates: a stage may keep its inner tensors while its input is made again") {
  Chain chain = plain(4);
  const Choices choices{{K, R, K, K}, {K, K, R, K, K}};
  CHECK(text(tape_of(chain, choices)) == "l0 F0 f1 F2 F3 B3 F1 B2 B1 B0");
  chain.stages[2].reads_input = false;
  CHECK(text(tape_of(chain, choices)) == "l0 F0 f1 F2 F3 B3 B2 F1 B1 B0");
}

TEST_CASE("fates: assignments of fates that contradict each other are an internal error") {
  const Chain chain = plain(2);
  CHECK_THROWS_AS(tape_of(chain, std::vector<Fate>{K}), InternalError);
  CHECK_THROWS_AS(tape_of(chain, Choices{{K, K}, {K, K}}), InternalError);
  CHECK_THROWS_AS(tape_of(chain, Choices{{K, K}, {K, R, K}}), InternalError);
  CHECK_THROWS_AS(tape_of(chain, Choices{{R, R}, {R, R, K}}), InternalError);
  CHECK_THROWS_AS(tape_of(chain, Choices{{R, R}, {K, R, R}}), InternalError);
}

TEST_CASE("fates: every assignment gives a tape that reads only tensors on the device") {
  test::Dice dice(2);
  for (int round = 0; round < 30; ++round) {
    const std::size_t stages = 1 + dice.below(5);
    const Chain chain = test::random_chain(dice, stages);
    for (std::uint64_t i = 0; i < test::fates_count(stages); ++i) {
      const Tape made = tape_of(chain, test::fates_number(i, stages));
      CHECK_NOTHROW(memory_of(chain, made));
      std::vector<int> backwards(stages);
      for (const TapeOp& op : made)
        if (op.kind == TapeOp::Kind::backward) ++backwards[op.number];
      CHECK(backwards == std::vector<int>(stages, 1));
    }
  }
}

}  // namespace
}  // namespace sluice
