// Tests the lower bounds of a streamed run whose boundaries are offloaded.
#include <catch2/catch.hpp>

#include "planning/streaming/least_seconds.hpp"
#include "planning/streaming/rehearsal.hpp"

namespace sluice {
namespace {

/// Three groups without weights compute a micro-batch in 1, 3 and 2 s. Each copy takes 0.5 s, and its data arrive 20 s
/// later. There are two steps of three micro-batches.
StreamedCase three_groups() {
  StreamedCase streamed;
  for (const double compute_s : {1.0, 3.0, 2.0})
    streamed.groups.push_back({{0, 50, 50, 0, 0}, compute_s});
  streamed.down = streamed.up = {0, 100, 20};
  streamed.micro_batches = 3;
  streamed.steps = 2;
  streamed.returns_answers = false;
  return streamed;
}

// The first input is there after 20.5 s. Between two groups, a micro-batch is saved and loaded again, which takes
// 2 x 20.5 = 41 s. It needs 6 s of computation and two such copies: 88 s. A step has a pass of two micro-batches and a
// pass of one. In the first pass, the second micro-batch comes 3 s later, because the second group computes both of them
// one after the other. So a step takes 88 + 3 + 88 = 179 s, and the whole run takes 20.5 + 2 x 179 s.
TEST_CASE("the lower bound of a streamed run counts the copies between the groups of a pass") {
  const StreamedCase streamed = three_groups();
  const StreamedChoice choice{.in_flight = 2, .buffers = 8, .offload = true};
  CHECK(seconds_at_least(streamed, choice, 8) == Approx(378.5).epsilon(1e-12));
  const Rehearsal rehearsal(streamed, choice);
  CHECK(rehearsal.seconds(rehearsal.order().loads) == Approx(378.5).epsilon(1e-12));
}

// Each of the three groups has weights of 100 kB, which stay and are loaded before the first step. After these 3000 s,
// the first input is loaded in 0.5 s. The first activation that the second group needs arrives at least 20.5 s later.
// Then the first pass still takes 3 + 3 s in the second group, 41 s for a save and a load, and 2 s in the third group.
// The other passes have one micro-batch (88 s), two (91 s), and one.
TEST_CASE(
    "the lower bound of a streamed run counts loads of weights that stay before offloaded activations") {
  StreamedCase streamed = three_groups();
  for (StreamedCase::Group& group : streamed.groups) group.bytes.weights = 100'000;
  const StreamedChoice choice{
      .in_flight = 2, .buffers = 8, .offload = true, .resident = {100'000, 100'000, 100'000}};
  const double first_pass = 3'000 + 0.5 + 20.5 + (3 + 3 + 41 + 2);
  CHECK(seconds_at_least(streamed, choice, 8) == Approx(first_pass + 88 + 91 + 88).epsilon(1e-12));
  const Rehearsal rehearsal(streamed, choice);
  CHECK(rehearsal.seconds(rehearsal.order().loads) >= first_pass + 88 + 91 + 88);
}

// Each of the six micro-batches needs 6 s of computation. Its input is loaded, and between two groups it is saved and
// loaded again: five copies of 20.5 s. Without overlap, everything runs one after the other.
TEST_CASE("without overlap, the lower bound of a streamed run counts the latency of each copy") {
  StreamedCase streamed = three_groups();
  streamed.overlap = false;
  const StreamedChoice choice{.in_flight = 2, .buffers = 1, .offload = true};
  CHECK(seconds_at_least(streamed, choice, 1) == Approx(6 * (6 + 5 * 20.5)).epsilon(1e-12));
  const Rehearsal rehearsal(streamed, choice);
  CHECK(rehearsal.seconds(rehearsal.order().loads) == Approx(6 * (6 + 5 * 20.5)).epsilon(1e-12));
}

}  // namespace
}  // namespace sluice
