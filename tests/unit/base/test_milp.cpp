#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>

#include "base/error.hpp"
#include "base/milp.hpp"
#include "support/random_chain.hpp"

namespace sluice {
namespace {

constexpr double none = Milp::infinity;

TEST_CASE("milp: a knapsack has the solution that was computed by hand") {
  // The three items have the values 10, 13 and 7, and the weights 3, 4 and 2. The taken items may weigh at most 6.
  // Together, the second and the third item weigh 6 and have the greatest possible value, 20. If parts of items could
  // be taken, the value could be greater than 20.
  Milp milp;
  const auto a = milp.whole(0, 1, -10), b = milp.whole(0, 1, -13), c = milp.whole(0, 1, -7);
  milp.constrain(-none, {{a, 3}, {b, 4}, {c, 2}}, 6);
  const MilpSolution solution = milp.solve({.seconds = 10});
  REQUIRE(solution.feasible);
  CHECK(solution.proven);
  CHECK(solution.gap() == 0);
  CHECK(solution.objective == Approx(-20));
  CHECK(solution.bound == Approx(-20));
  CHECK(solution.values == std::vector<double>{0, 1, 1});
}

TEST_CASE(
    "milp: programmes with real variables, with equalities, and with terms that occur twice are solved") {
  // Minimises 3 x + y under the constraints x + x + y = 4 and 0 <= x <= 1.5. If y had no upper bound, the minimum would
  // be at x = 0 and y = 4. But y is an integer from 0 to 3, so the minimum is at x = 0.5 and y = 3.
  Milp milp;
  const auto x = milp.real(0, 1.5, 3), y = milp.whole(0, 3, 1);
  milp.constrain(4, {{x, 1}, {y, 1}, {x, 1}}, 4);
  const MilpSolution solution = milp.solve({.seconds = 10});
  REQUIRE(solution.proven);
  CHECK(solution.objective == Approx(4.5));
}

TEST_CASE("milp: a programme without a solution is proven to have no solution") {
  Milp real, whole;
  const auto x = real.real(0, 1);
  real.constrain(2, {{x, 1}}, none);
  CHECK_FALSE(real.solve({.seconds = 10}).feasible);
  CHECK(real.solve({.seconds = 10}).proven);
  const auto y = whole.whole(0, 1), z = whole.whole(0, 1);
  whole.constrain(1, {{y, 2}, {z, 2}}, 1);
  CHECK_FALSE(whole.solve({.seconds = 10}).feasible);
  CHECK(whole.solve({.seconds = 10}).proven);
}

TEST_CASE("milp: a search accepts only solutions that are better than a known solution") {
  Milp milp;
  const auto a = milp.whole(0, 1, -10), b = milp.whole(0, 1, -13), c = milp.whole(0, 1, -7);
  milp.constrain(-none, {{a, 3}, {b, 4}, {c, 2}}, 6);
  CHECK(milp.solve({.seconds = 10}, -17).objective == Approx(-20));
  const MilpSolution better = milp.solve({.seconds = 10}, -20.5);
  CHECK_FALSE(better.feasible);
  CHECK(better.proven);
  CHECK(better.bound == -20.5);
  CHECK_THROWS_AS(milp.constrain(0, {{c + 1, 1}}, 0), InternalError);
}

TEST_CASE("milp: random knapsacks agree with an enumeration of all subsets") {
  test::Dice dice(21);
  for (int round = 0; round < 30; ++round) {
    Milp milp;
    const std::size_t n = 3 + dice.below(8);
    std::vector<double> value, weight[2];
    Milp::Terms terms[2];
    for (std::size_t i = 0; i < n; ++i) {
      value.push_back(static_cast<double>(1 + dice.below(50)));
      milp.whole(0, 1, -value[i]);
      for (const int k : {0, 1}) {
        weight[k].push_back(static_cast<double>(1 + dice.below(50)));
        terms[k].push_back({static_cast<std::uint32_t>(i), weight[k][i]});
      }
    }
    for (const auto& term : terms) milp.constrain(-none, term, 80);
    double best = 0;
    for (std::uint32_t set = 0; set < 1u << n; ++set) {
      double sum = 0, load[2] = {0, 0};
      for (std::size_t i = 0; i < n; ++i)
        if (set >> i & 1) sum += value[i], load[0] += weight[0][i], load[1] += weight[1][i];
      if (load[0] <= 80 && load[1] <= 80) best = std::max(best, sum);
    }
    const MilpSolution solution = milp.solve({.seconds = 10});
    REQUIRE(solution.proven);
    CHECK(solution.objective == Approx(-best));
  }
}

/// Returns a market-split programme. It has equalities over many integer variables, for which branch and bound needs a
/// long time.
Milp market_split() {
  Milp milp;
  test::Dice dice(22);
  for (int i = 0; i < 60; ++i) milp.whole(0, 1);
  for (int row = 0; row < 6; ++row) {
    Milp::Terms terms;
    double sum = 0;
    for (std::uint32_t i = 0; i < 60; ++i) {
      terms.push_back({i, static_cast<double>(dice.below(100))});
      sum += terms.back().second;
    }
    const double half = static_cast<double>(static_cast<int>(sum / 2));
    const auto over = milp.real(0, none, 1), under = milp.real(0, none, 1);
    terms.push_back({over, 1});
    terms.push_back({under, -1});
    milp.constrain(half, terms, half);
  }
  return milp;
}

TEST_CASE("milp: when the time limit ends the search, the solution has a bound and a gap") {
  const MilpSolution solution = market_split().solve({.seconds = 0.5});
  CHECK_FALSE(solution.proven);
  CHECK(solution.bound >= 0);
  if (solution.feasible) CHECK(solution.objective >= solution.bound);
  CHECK(solution.gap() > 0);
}

TEST_CASE("milp: a search prints nothing and leaves the signal handlers alone") {
  std::signal(SIGINT, SIG_IGN);
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  std::fflush(stdout);
  std::fflush(stderr);
  const int out = dup(1), err = dup(2);
  dup2(fileno(file), 1);
  dup2(fileno(file), 2);
  market_split().solve({.seconds = 0.2});
  Milp none_at_all;
  none_at_all.solve({.seconds = 1});
  std::fflush(stdout);
  std::fflush(stderr);
  dup2(out, 1);
  dup2(err, 2);
  close(out);
  close(err);
  CHECK(lseek(fileno(file), 0, SEEK_END) == 0);
  std::fclose(file);
  CHECK(std::signal(SIGINT, SIG_DFL) == SIG_IGN);
}

}  // namespace
}  // namespace sluice
