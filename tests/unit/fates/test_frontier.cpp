#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "fates/choices.hpp"
#include "fates/optimal/bound.hpp"
#include "fates/optimal/frontier.hpp"
#include "fates/optimal/pareto.hpp"
#include "support/random_chain.hpp"

namespace sluice {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double seconds_within(const Frontier& frontier, std::int64_t budget) {
  const std::size_t point = frontier.within(budget);
  return point < frontier.points().size() ? frontier.points()[point].seconds : infinity;
}

/// Tries all 3^n assignments of fates to the n stages. In each of them, all operations run one after the other. Returns
/// the seconds of the fastest assignment whose peak is within the budget.
double best_fates(const Chain& chain, std::int64_t budget) {
  double best = infinity;
  for (std::uint64_t i = 0; i < test::fates_count(chain.stages.size()); ++i) {
    const Tape tape = tape_of(chain, test::fates_number(i, chain.stages.size()));
    if (memory_of(chain, tape).peak <= budget) best = std::min(best, serial_seconds(chain, tape));
  }
  return best;
}

void check_points(const Chain& chain, const Frontier& frontier) {
  const auto& points = frontier.points();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Tape tape = frontier.tape(i);
    CHECK(memory_of(chain, tape).peak == points[i].peak);
    CHECK(serial_seconds(chain, tape) == Approx(points[i].seconds).epsilon(1e-9));
    if (i == 0) continue;
    CHECK(points[i - 1].peak < points[i].peak);
    CHECK(points[i - 1].seconds > points[i].seconds);
  }
}

TEST_CASE("frontier: the tape of every point has the point's peak and seconds") {
  test::Dice dice(3);
  for (int round = 0; round < 300; ++round) {
    const Chain chain = test::random_chain(dice, 1 + dice.below(9));
    check_points(chain, Frontier(chain));
  }
}

TEST_CASE(
    "frontier: within every budget, the frontier has a schedule as fast as the best of all 3^n assignments of fates") {
  test::Dice dice(4);
  for (int round = 0; round < 600; ++round) {
    const std::size_t stages = 1 + dice.below(7);
    const Chain chain = test::random_chain(dice, stages);
    const Frontier frontier(chain);
    CHECK_FALSE(frontier.thinned());
    for (std::uint64_t i = 0; i < test::fates_count(stages); ++i) {
      const Tape tape = tape_of(chain, test::fates_number(i, stages));
      const double found = seconds_within(frontier, memory_of(chain, tape).peak);
      const double seconds = serial_seconds(chain, tape);
      if (found > seconds * (1 + 1e-9))
        FAIL_CHECK("chain " << round << ", fates " << i << ": " << found << " s, by fates "
                            << seconds << " s");
    }
  }
}

/// Returns a random chain in which most stages have nothing to keep: no inner tensors, and an output that their backward
/// pass does not read.
Chain chain_that_keeps_nothing(test::Dice& dice, std::size_t stages) {
  Chain chain = test::random_chain(dice, stages);
  for (std::size_t s = 0; s + 1 < stages; ++s) {
    if (dice.one_in(8)) continue;
    chain.stages[s].inner = {};
    chain.stages[s].reads_output = false;
  }
  return chain;
}

TEST_CASE(
    "frontier: of a chain with stages that keep nothing, all rows are there that other rows read") {
  test::Dice dice(12);
  for (int round = 0; round < 200; ++round) {
    const Chain small = chain_that_keeps_nothing(dice, 1 + dice.below(6));
    const Frontier frontier(small);
    for (const Frontier::Point& point : frontier.points())
      CHECK(point.seconds <= best_fates(small, point.peak) * (1 + 1e-9));
    check_points(small, frontier);
    const Chain large = chain_that_keeps_nothing(dice, 13 + dice.below(12));
    check_points(large, Frontier(large, {.cap = 12, .splits = 5, .free_length = 3}));
  }
}

TEST_CASE(
    "frontier: if it helps to run a stage three times, the frontier is faster than all assignments of fates") {
  // Each of five stages takes 1 s forward and 2 s backward. A boundary has 1 byte, and a copy of it takes 100 s. A
  // forward pass holds its input and its output. Besides them, a memory of 3 bytes has room for only one boundary,
  // which is the input of the model. So other boundaries are made again: F0 F1 F2 F3 F4 B4 f0 f1 f2 B3 B2 f0 B1 B0.
  // This schedule has 5 + 3 + 1 forward passes, 5 backward passes, and the load of the input.
  Chain chain;
  chain.input = {1, 100, 100};
  for (int s = 0; s < 5; ++s)
    chain.stages.push_back({.forward_s = 1, .backward_s = 2, .output = {1, 100, 100}});
  CHECK(seconds_within(Frontier(chain), 3) == 100 + 9 * 1 + 5 * 2);
  // In an assignment of fates, a stage runs forward at most twice. But this schedule runs stage 0 forward three times,
  // as F0, f0 and f0. So within 3 bytes, an assignment must copy boundaries, in 100 s each.
  CHECK(best_fates(chain, 3) > 200);
  CHECK(seconds_within(Frontier(chain), 6) == 100 + 5 * 1 + 5 * 2);
}

TEST_CASE(
    "frontier: a boundary may leave the device early, and is made again without further passes") {
  // Each forward and each backward pass of four stages takes 1 s. Boundaries 1, 2 and 3 have 1, 2 and 2 bytes, as
  // their gradients. The other boundaries have 0 bytes. Stages 2 and 3 have inner tensors of 10 and 11 bytes. Copies
  // take 100 s. The backward pass of stage 3 holds boundary 3, its inner tensors and the gradient of boundary 3: 2 +
  // 11 + 2 bytes. The backward pass of stage 2 holds boundary 2, its inner tensors and two gradients: 2 + 10 + 2 + 2
  // bytes. So a memory of 16 bytes has room for boundary 1 during the first of these passes, but not during the
  // second: F0 F1 F2 F3 B3 f1 f2 B2 f0 B1 B0. Without boundary 1, stage 0 would run once more: f0 f1 f2. If boundary
  // 1 stayed until the backward pass of stage 1, the device would need 17 bytes.
  Chain chain;
  using OutputAndInner = std::pair<std::int64_t, std::int64_t>;
  for (const auto& [output, inner] : std::vector<OutputAndInner>{{1, 0}, {2, 0}, {2, 10}, {0, 11}})
    chain.stages.push_back({.forward_s = 1,
                            .backward_s = 1,
                            .output = {output, 100, 100},
                            .inner = {inner, 100, 100},
                            .gradient = output});
  CHECK(seconds_within(Frontier(chain), 16) == 7 + 4);
  CHECK(seconds_within(Frontier(chain), 15) == infinity);
  std::string tape;
  for (const TapeOp& op : Frontier(chain).tape(0))
    tape += (op.kind == TapeOp::Kind::forward ? " F" : " B") + std::to_string(op.number);
  CHECK(tape == " F0 F1 F2 F3 B3 F1 F2 B2 F0 B1 B0");
}

TEST_CASE(
    "frontier: an empty chain needs no bytes, and no point lies within a budget below the "
    "least peak") {
  CHECK(seconds_within(Frontier(Chain{}), 0) == 0);
  CHECK(Frontier(Chain{}).tape(0).empty());
  test::Dice dice(5);
  const Frontier frontier(test::random_chain(dice, 5));
  CHECK(seconds_within(frontier, frontier.points().front().peak - 1) == infinity);
  CHECK(seconds_within(frontier, frontier.points().front().peak) < infinity);
}

TEST_CASE(
    "frontier: a frontier with fewer points also consists of schedules, and is close to the exact frontier") {
  test::Dice dice(6);
  for (int round = 0; round < 20; ++round) {
    const Chain chain = test::random_chain(dice, 12);
    const Frontier exact(chain);
    const Frontier thinned(chain, {.cap = 32});
    const Frontier split(chain, {.splits = 3, .free_length = 2});
    CHECK_FALSE(exact.thinned());
    CHECK(thinned.thinned());
    check_points(chain, thinned);
    check_points(chain, split);
    for (const Frontier* other : {&thinned, &split})
      for (const Frontier::Point& point : other->points())
        CHECK(seconds_within(exact, point.peak) <= point.seconds * (1 + 1e-9));
    for (const Frontier::Point& point : exact.points())
      if (point.peak >= thinned.points().front().peak)
        CHECK(seconds_within(thinned, point.peak) <= point.seconds * 1.02);
  }
}

TEST_CASE("frontier: a search for only the least peak finds the first peak of the whole frontier") {
  test::Dice dice(9);
  for (int round = 0; round < 200; ++round) {
    const Chain chain = test::random_chain(dice, 1 + dice.below(14));
    for (FrontierSettings settings : {FrontierSettings{}, FrontierSettings{.copies = false},
                                      FrontierSettings{.cap = 8, .splits = 3, .free_length = 2}}) {
      const Frontier whole(chain, settings);
      settings.only_least = true;
      const Frontier least(chain, settings);
      REQUIRE(least.points().size() == 1);
      CHECK(least.points()[0].peak == whole.points()[0].peak);
      CHECK(memory_of(chain, least.tape(0)).peak == least.points()[0].peak);
    }
  }
}

/// Returns a random list of points. From point to point, the peak rises and the seconds fall.
ParetoNodes random_row(test::Dice& dice, std::size_t count) {
  ParetoNodes row;
  ParetoNode node{.peak = static_cast<std::int64_t>(dice.below(50)), .seconds = 1000};
  for (std::size_t i = 0; i < count; ++i) {
    row.push_back(node);
    node.peak += 1 + static_cast<std::int64_t>(dice.below(20));
    node.seconds -= static_cast<double>(1 + dice.below(9));
  }
  return row;
}

/// Returns the Pareto front of the points in `all` and of all pairs of a point of `split.first` and a point of
/// `split.second`.
ParetoNodes best_of_all_pairs(const ParetoSplit& split, ParetoNodes all, const ParetoNode& from) {
  for (const ParetoNode& first : split.first)
    for (const ParetoNode& second : split.second)
      all.push_back({.peak = std::max({from.peak, first.peak + split.held, second.peak}),
                     .seconds = from.seconds + first.seconds + second.seconds});
  std::sort(all.begin(), all.end(), [](const ParetoNode& a, const ParetoNode& b) {
    return std::pair(a.peak, a.seconds) < std::pair(b.peak, b.seconds);
  });
  ParetoNodes best;
  for (const ParetoNode& node : all)
    if (best.empty() || node.seconds < best.back().seconds) best.push_back(node);
  return best;
}

TEST_CASE(
    "frontier: if a segment is split, its frontier has the best of all pairs of schedules of the two parts") {
  test::Dice dice(10);
  ParetoNodes scratch;
  int kept = 0, better = 0;
  for (int round = 0; round < 2000; ++round) {
    const ParetoNodes first = random_row(dice, 1 + dice.below(40));
    const ParetoNodes second = random_row(dice, 1 + dice.below(40));
    ParetoNodes known = random_row(dice, dice.below(60));
    for (ParetoNode& node : known) node.seconds *= 2;
    const ParetoSplit split{first, static_cast<std::int64_t>(dice.below(100)), second};
    const ParetoNode from{.peak = static_cast<std::int64_t>(dice.below(400)),
                          .seconds = static_cast<double>(dice.below(300)) - 150};
    const ParetoNodes expected = best_of_all_pairs(split, known, from);
    ParetoNodes added;
    join(from, split, known, added);
    (added.empty() ? kept : better) += 1;
    merge(known, added, scratch);
    REQUIRE(known.size() == expected.size());
    for (std::size_t i = 0; i < known.size(); ++i) {
      CHECK(known[i].peak == expected[i].peak);
      CHECK(known[i].seconds == expected[i].seconds);
    }
  }
  CHECK(kept > 100);
  CHECK(better > 100);
}

TEST_CASE("frontier: the factor copy_price multiplies only the seconds of copies") {
  test::Dice dice(7);
  for (int round = 0; round < 20; ++round) {
    Chain chain = test::random_chain(dice, 6);
    const Frontier half(chain, {.copy_price = 0.5});
    const auto halve = [](ChainTensor& tensor) { tensor.save_s /= 2, tensor.load_s /= 2; };
    halve(chain.input);
    for (ChainStage& stage : chain.stages) halve(stage.output), halve(stage.inner);
    const Frontier same(chain);
    REQUIRE(half.points().size() == same.points().size());
    for (std::size_t i = 0; i < half.points().size(); ++i)
      CHECK(half.points()[i].seconds == Approx(same.points()[i].seconds).epsilon(1e-12));
  }
}

TEST_CASE(
    "bound: no schedule takes fewer seconds than the bound, and with unlimited memory a schedule takes exactly these "
    "seconds") {
  test::Dice dice(8);
  for (int round = 0; round < 60; ++round) {
    const Chain chain = test::random_chain(dice, 1 + dice.below(9));
    const Frontier frontier(chain);
    for (const Frontier::Point& point : frontier.points()) {
      const double serial = fate_bound(chain, point.peak, Copies::serial);
      CHECK(serial <= point.seconds * (1 + 1e-9));
      CHECK(fate_bound(chain, point.peak, Copies::overlapped) <= serial * (1 + 1e-9));
    }
    const Frontier::Point& fastest = frontier.points().back();
    CHECK(fate_bound(chain, fastest.peak, Copies::serial) == Approx(fastest.seconds));
  }
}

TEST_CASE("bound: the bound of three stages equals the bound that was computed by hand") {
  // Three stages take 3 x (1 + 2) = 9 s. The inner tensors of each stage have 10 bytes, and boundaries have 0 bytes.
  // The budget is 25 bytes. The backward pass of stage 2 needs the 10 bytes of its own stage. The other 15 bytes hold
  // the inner tensors of one more stage. Those of the third stage are saved and loaded, in 0.4 + 0.4 s. So the bound
  // is 9 + 0.8 s. Further below, each copy takes 1 s. To save and load these tensors would take 1 + 1 s, but to
  // recompute them takes a forward pass of 1 s. So the bound is 9 + 1 s.
  Chain chain;
  for (int s = 0; s < 3; ++s)
    chain.stages.push_back({.forward_s = 1, .backward_s = 2, .inner = {10, 0.4, 0.4}});
  CHECK(fate_bound(chain, 25, Copies::serial) == Approx(9.8).epsilon(1e-9));
  // If copies overlap with computation, the computation gives enough time for every copy. So the bound is 9 s.
  CHECK(fate_bound(chain, 25, Copies::overlapped) == Approx(9).epsilon(1e-9));
  for (ChainStage& stage : chain.stages) stage.inner.save_s = stage.inner.load_s = 1;
  CHECK(fate_bound(chain, 25, Copies::serial) == Approx(10).epsilon(1e-9));
  CHECK(fate_bound(chain, 9, Copies::serial) == infinity);
  // Now each copy takes 30 s, and copies overlap with computation. In this case, the bound allows a part of a tensor
  // to be on the device. The 15 bytes hold the inner tensors of one stage, and half of those of the other stage. The
  // forward pass of the first stage ends at 1 s, and the last forward pass ends at 3 s. In the 2 s between them, 2 /
  // 30 of the first stage's inner tensors are saved without a delay. To recompute all inner tensors of a stage takes
  // 1 s, far less than a copy. So the rest of the missing half is recomputed, in 0.5 - 2 / 30 s. The bound is 9 + 0.5
  // - 2 / 30 s.
  for (ChainStage& stage : chain.stages) stage.inner.save_s = stage.inner.load_s = 30;
  CHECK(fate_bound(chain, 25, Copies::overlapped) == Approx(9.5 - 2.0 / 30).epsilon(1e-3));
}

void check_gap(std::size_t stages, double copy_s) {
  const Chain chain = test::layered_chain(stages, copy_s);
  const Frontier frontier(chain, {.splits = 40});
  const std::int64_t all = frontier.points().back().peak;
  for (const double share : {0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9}) {
    const auto budget = static_cast<std::int64_t>(share * static_cast<double>(all));
    const std::size_t point = frontier.within(budget);
    REQUIRE(point < frontier.points().size());
    CHECK(memory_of(chain, frontier.tape(point)).peak <= budget);
    CHECK(frontier.points()[point].seconds <= 1.05 * fate_bound(chain, budget, Copies::serial));
  }
}

TEST_CASE(
    "frontier: for a thousand stages, the schedules of the frontier are within 5 % of the bound") {
  check_gap(1000, 0.75);  // a copy takes about as long as a recomputation
  check_gap(300, 7.5);    // a copy takes longer than a recomputation
}

}  // namespace
}  // namespace sluice
