// Tests which candidate the judge takes. Also tests what it reports about the runner-up, which is the second-fastest
// candidate.
#include <catch2/catch.hpp>

#include <string>
#include <utility>

#include "base/never.hpp"
#include "planning/candidate.hpp"
#include "planning/judge_until.hpp"

namespace sluice {
namespace {

/// Returns a candidate that takes `seconds` and has the lower bound `at_least`. If `seconds` is infinity, the candidate
/// does not fit. Each simulation of the candidate adds 1 to `simulated`. Like the simulations of policies, a simulation
/// reports its seconds only if they are fewer than `worth`.
Candidate candidate(const std::string& name, double at_least, double seconds, int& simulated) {
  return {at_least, 1, [=, &simulated](double worth, const auto& settled) {
            ++simulated;
            if (seconds < never && seconds >= worth) return settled({never, "", {}});
            settled({seconds, name, [] { return Plan(); }});
          }};
}

TEST_CASE("texts of choices are joined by one comma or semicolon") {
  CHECK(joined("strategy: keep_all", "in_flight: 2") == "strategy: keep_all, in_flight: 2");
  CHECK(joined("strategy: keep_all", "; stays within 8 B") ==
        "strategy: keep_all; stays within 8 B");
  CHECK(joined("", "in_flight: 2") == "in_flight: 2");
  CHECK(joined("in_flight: 2", "") == "in_flight: 2");
}

TEST_CASE(
    "the judge names a runner-up, even if the bound of the runner-up proves that it is not faster than the chosen "
    "candidate") {
  int simulated = 0;
  const Judgement found =
      judge({candidate("slow", 7, 8, simulated), candidate("fast", 2, 3, simulated),
             candidate("slowest", 9, 10, simulated)});
  CHECK(found.best.text == "fast");
  REQUIRE(found.runner_up);
  CHECK(found.runner_up->text == "slow");
  CHECK(found.runner_up->seconds == 8);
  CHECK(simulated == 2);
  CHECK(found.simulated == 2);
  CHECK(found.candidates == 3);
}

TEST_CASE("the judge reports a candidate that is faster than its lower bound") {
  int simulated = 0;
  CHECK_FALSE(
      judge({candidate("slow", 7, 8, simulated), candidate("fast", 2, 3, simulated)}).beaten_bound);
  CHECK(judge({candidate("slow", 7, 6, simulated), candidate("fast", 2, 3, simulated)})
            .beaten_bound == "slow: 6 s instead of at least 7 s");
  // The bound of a candidate also holds for the candidates into which it is divided.
  const Candidate divided{.at_least = 7, .open = [&] {
                            return std::vector<Candidate>{candidate("part", 1, 6, simulated)};
                          }};
  CHECK(judge({divided}).beaten_bound == "part: 6 s instead of at least 7 s");
}

TEST_CASE("if the judge needs a runner-up, it skips candidates that do not fit") {
  int simulated = 0;
  const Judgement found =
      judge({candidate("fast", 2, 3, simulated), candidate("too large", 4, never, simulated),
             candidate("fits", 5, 6, simulated), candidate("not asked", 7, 8, simulated)});
  CHECK(found.best.text == "fast");
  REQUIRE(found.runner_up);
  CHECK(found.runner_up->text == "fits");
  CHECK(simulated == 3);
}

TEST_CASE("the judge simulates only the first of several candidates with the same ways") {
  int simulated = 0;
  std::vector<Candidate> all = {candidate("first", 3, 3, simulated),
                                candidate("again", 3, 3, simulated),
                                candidate("other", 3, 3, simulated)};
  all[0].same_ways = all[1].same_ways = "these ways";
  const Judgement found = judge(std::move(all));
  CHECK(found.best.text == "first");
  REQUIRE(found.runner_up);
  CHECK(found.runner_up->text == "other");
  CHECK(simulated == 2);
  CHECK(found.candidates == 3);
}

TEST_CASE("the judge skips candidates that cannot take fewer seconds than asked") {
  const auto judged = [](double worth) {
    int simulated = 0;
    const Judgement found =
        judge({candidate("first", 2, 9, simulated), candidate("fast", 3, 4, simulated),
               candidate("slow", 6, 7, simulated)},
              worth);
    return std::pair(found.best.text, simulated);
  };
  CHECK(judged(never) == std::pair(std::string("fast"), 2));
  // The first way that fits is the result, because no way takes less than 3 s. No other candidate is simulated.
  CHECK(judged(3) == std::pair(std::string("first"), 1));
  // Here the bound of "fast" is below 3.5 s, so it is simulated, but it takes 4 s.
  CHECK(judged(3.5) == std::pair(std::string("first"), 2));
  CHECK(judged(5).first == "fast");
}

TEST_CASE("the judge ends when a candidate takes the least seconds that are known") {
  int simulated = 0;
  const Judgement found =
      judge_until({candidate("first", 1, 9, simulated), candidate("fast", 2, 4, simulated),
                   candidate("as fast", 3, 4, simulated)},
                  never, 4);
  CHECK(found.best.text == "fast");
  CHECK(simulated == 2);
}

TEST_CASE("if only one candidate fits, there is no runner-up") {
  int simulated = 0;
  const Judgement found =
      judge({candidate("fits", 2, 3, simulated), candidate("too large", 4, never, simulated)});
  CHECK(found.best.text == "fits");
  CHECK_FALSE(found.runner_up);
}

}  // namespace
}  // namespace sluice
