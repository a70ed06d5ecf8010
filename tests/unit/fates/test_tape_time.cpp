// Tests the estimate of a tape's seconds, by which the search ranks tapes. The expected estimates are computed by hand.
#include <catch2/catch.hpp>

#include "fates/choices.hpp"
#include "fates/tape_time.hpp"

namespace sluice {
namespace {

/// Returns a chain of three stages. Each stage takes 2 s forward and 4 s backward. The input has 10 bytes and is loaded
/// in 1 s. The output of each stage has 10 bytes. It takes 3 s to save and 3 s to load. The backward pass of a stage
/// reads the stage's input.
Chain three_stages() {
  Chain chain;
  chain.input = {10, 1, 1};
  for (int s = 0; s < 3; ++s) {
    ChainStage stage;
    stage.forward_s = 2;
    stage.backward_s = 4;
    stage.output = {10, 3, 3};
    stage.reads_output = s == 2;
    chain.stages.push_back(stage);
  }
  return chain;
}

double about(const Chain& chain, const std::vector<Fate>& fates, std::int64_t bytes,
             double micro_batches) {
  const Tape tape = tape_of(chain, fates);
  return estimated_seconds(chain, tape, memory_of(chain, tape), bytes, micro_batches, false)
      .seconds;
}

TEST_CASE(
    "a tape's estimate: if all tensors are kept, the next input is loaded during computation") {
  const Chain chain = three_stages();
  const std::vector<Fate> keep(3, Fate::keep);
  // The first input is loaded in 1 s. Each micro-batch is computed in 3 x (2 + 4) = 18 s. If there is enough memory,
  // the next input is loaded meanwhile.
  CHECK(about(chain, keep, 40, 1) == Approx(19));
  CHECK(about(chain, keep, 1000, 10) == Approx(1 + 10 * 18));
  // The last two backward passes hold only 20 and 10 bytes. So a memory of 40 bytes has room for the next input, which
  // has 10 bytes.
  CHECK(about(chain, keep, 40, 10) == Approx(1 + 10 * 18));
}

TEST_CASE(
    "a tape's estimate: if the link is slower than the computation, the link limits the run") {
  Chain chain = three_stages();
  chain.input.load_s = 30;
  // The 10 inputs are loaded without a pause, in 10 x 30 s. After the last load, the last micro-batch is computed in 18
  // s.
  CHECK(about(chain, std::vector<Fate>(3, Fate::keep), 1000, 10) == Approx(10 * 30 + 18));
}

TEST_CASE("a tape's estimate: a latency delays only operations that wait for the copy") {
  Chain chain = three_stages();
  chain.load_latency_s = 5;
  CHECK(about(chain, std::vector<Fate>(3, Fate::keep), 1000, 10) == Approx(1 + 5 + 10 * 18));
}

TEST_CASE("a tape's estimate: loads wait for saves, and run one after the other") {
  // Boundaries 1 and 2 are saved and loaded. Forward passes end at 3, 5 and 7 s. Saves run from 3 to 6 s and from 6 to
  // 9 s. The backward pass of stage 3 reads the stage's input, boundary 2, which was saved. Boundary 2 is loaded from 9
  // s, when its save ends, to 12 s. Boundary 1 is loaded from 12 to 15 s. The backward passes of stages 3, 2 and 1 run
  // from 12 to 16 s, from 16 to 20 s, and from 20 to 24 s.
  const Chain chain = three_stages();
  CHECK(about(chain, {Fate::offload, Fate::offload, Fate::keep}, 1000, 1) == Approx(24));
}

TEST_CASE("the seconds of each copy engine equal the seconds computed by hand") {
  Chain chain = three_stages();
  chain.stages[2].inner = {1, 0, 0};  // stages without inner tensors do not run again
  const EngineSeconds engines =
      engine_seconds(chain, tape_of(chain, {Fate::offload, Fate::offload, Fate::recompute}));
  CHECK(engines.computed == Approx(18 + 2));
  CHECK(engines.saved == Approx(6));
  CHECK(engines.busiest() == engines.computed);
}

}  // namespace
}  // namespace sluice
