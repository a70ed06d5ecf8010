#include <catch2/catch.hpp>
#include <ctime>

#include "base/error.hpp"
#include "fates/optimal/frontier.hpp"
#include "fates/optimal/milp.hpp"
#include "support/random_chain.hpp"

namespace sluice {
namespace {

/// Returns a graph of four operations that take 3, 1, 1 and 1 s. The first three operations make the tensors `a`, `b`
/// and `c`. The four operations read `x`, `a`, `b` and `c`, in this order. The last operation reads `a`, too, over a
/// skip connection. Tensor `x` has 1 byte and comes from host memory. Tensors `a` and `b` have 10 bytes each, and `c`
/// has 1 byte.
FateGraph skip_connection(double load_x_s) {
  FateGraph graph;
  graph.tensors = {{1, 0, load_x_s}, {10, 2, 2}, {10, 2, 2}, {1, 2, 2}};
  graph.copies = {1, 1, 1, 1};
  graph.operations = {{3, {0}, {1}}, {1, {1}, {2}}, {1, {2}, {3}}, {1, {1, 3}, {}}};
  return graph;
}

TEST_CASE(
    "graph: the tensor of a skip connection is kept if it fits together with the other tensors") {
  const GraphAnswer answer = solve(skip_connection(0.5), 21, 30);
  REQUIRE(answer.proven);
  CHECK(answer.seconds == Approx(0.5 + 3 + 1 + 1 + 1));
  CHECK(answer.bound == Approx(answer.seconds));
}

TEST_CASE(
    "graph: with one byte less, the tensor of the skip connection is made again, or is moved if this takes less time") {
  // The four operations take 6 s, and the first load of `x` takes 0.5 s or 2 s. To make tensor `a` again, the device
  // loads `x` again and repeats the first operation, in 0.5 + 3 s or 2 + 3 s. To move tensor `a` to host memory and
  // back takes 2 + 2 s.
  CHECK(solve(skip_connection(0.5), 20, 30).seconds == Approx(6.5 + 0.5 + 3));
  CHECK(solve(skip_connection(2), 20, 30).seconds == Approx(8 + 2 + 2));
  CHECK_FALSE(solve(skip_connection(2), 19, 30).feasible);
  CHECK(solve(skip_connection(2), 19, 30).proven);
}

TEST_CASE("graph: the answer is a schedule that is faster than the known schedule, or none") {
  CHECK(solve(skip_connection(0.5), 20, 30, 10.5).seconds == Approx(10));
  const GraphAnswer none = solve(skip_connection(0.5), 20, 30, 9.5);
  CHECK_FALSE(none.feasible);
  CHECK(none.proven);
}

TEST_CASE("graph: reading a tensor that no earlier operation makes is an internal error") {
  FateGraph graph = skip_connection(1);
  graph.operations[1].reads = {3};
  graph.copies[3] = 0;
  CHECK_THROWS_AS(solve(graph, 100, 30), InternalError);
}

TEST_CASE(
    "graph: the time limit includes the time for building the programme and for solving its relaxation") {
  const Chain chain = test::layered_chain(48, 0.4);
  const Frontier frontier(chain);
  const std::size_t point = frontier.points().size() / 2;
  const std::clock_t begin = std::clock();
  const MilpAnswer answer =
      solve_milp(chain, frontier.points()[point].peak, 0.5, frontier.tape(point));
  CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < 4);
  CHECK(answer.feasible);
  CHECK_FALSE(answer.proven);
  CHECK(answer.bound >= 0);
  CHECK(answer.gap <= 1);
}

TEST_CASE("graph: tensors of 0 bytes are not copied") {
  test::Dice dice(44);
  Chain chain = test::random_chain(dice, 3);
  chain.input.bytes = 5;
  for (ChainStage& stage : chain.stages) stage.output.bytes = 5, stage.inner = {};
  const FateGraph graph = graph_of(chain);
  for (std::size_t i = 0; i < graph.tensors.size(); ++i)
    if (graph.tensors[i].bytes == 0) CHECK(graph.copies[i] == 0);
  CHECK(graph.copies[0] == 1);
}

TEST_CASE(
    "graph: the programme never finds a schedule that is slower than the frontier's schedule, and the tape of its "
    "schedule fits") {
  test::Dice dice(41);
  int equal = 0, faster = 0;
  for (int round = 0; round < 12; ++round) {
    const Chain chain = test::random_chain(dice, 1 + dice.below(4));
    const Frontier frontier(chain);
    const auto& points = frontier.points();
    const std::size_t point = dice.below(points.size());
    const std::int64_t budget = points[point].peak;
    const MilpAnswer answer = solve_milp(chain, budget, 60);
    REQUIRE(answer.feasible);
    CHECK(memory_of(chain, answer.tape).peak <= budget);
    if (!answer.proven) continue;
    CHECK(answer.seconds <= points[point].seconds * (1 + 1e-6));
    CHECK(answer.gap == Approx(0).margin(1e-6));
    const bool same = answer.seconds > points[point].seconds * (1 - 1e-6);
    ++(same ? equal : faster);
    const MilpAnswer again = solve_milp(chain, budget, 60, frontier.tape(point));
    CHECK(again.seconds == Approx(answer.seconds).epsilon(1e-6));
  }
  CHECK(equal > faster);
}

TEST_CASE("graph: programme and frontier find equal seconds if only boundaries can be kept") {
  // If all gradients have 0 bytes, the integer programme cannot save bytes by another order of the operations. Then it
  // searches exactly the schedules that the frontier searches.
  test::Dice dice(42);
  for (int round = 0; round < 6; ++round) {
    Chain chain = test::random_chain(dice, 4 + dice.below(2));
    for (ChainStage& stage : chain.stages) {
      stage.inner = {};
      stage.output.bytes = 10;
      stage.gradient = 0;
      stage.reads_input = true;
      stage.reads_output = false;
      stage.pass_workspace = stage.keep_workspace = stage.backward_workspace = 0;
    }
    chain.input.bytes = 10;
    const Frontier frontier(chain);
    for (std::size_t i = 0; i < frontier.points().size(); i += 2) {
      const MilpAnswer answer = solve_milp(chain, frontier.points()[i].peak, 60);
      REQUIRE(answer.feasible);
      if (answer.proven)
        CHECK(answer.seconds == Approx(frontier.points()[i].seconds).epsilon(1e-6));
    }
  }
}

TEST_CASE("graph: for nine to twelve stages, the frontier is close to the programme's answer") {
  test::Dice dice(43);
  for (const std::size_t stages : {9u, 10u, 11u, 12u}) {
    const Chain chain = test::random_chain(dice, stages);
    const Frontier frontier(chain);
    const std::size_t point = frontier.points().size() / 2;
    const double seconds = frontier.points()[point].seconds;
    const MilpAnswer answer =
        solve_milp(chain, frontier.points()[point].peak, 4, frontier.tape(point));
    REQUIRE(answer.feasible);
    CHECK(memory_of(chain, answer.tape).peak <= frontier.points()[point].peak);
    CHECK(answer.bound <= answer.seconds);
    CHECK(answer.seconds <= seconds * (1 + 1e-9));
    // The frontier leaves out some schedules, which may be up to 3 % faster.
    CHECK(answer.seconds >= 0.97 * seconds);
  }
}

}  // namespace
}  // namespace sluice
