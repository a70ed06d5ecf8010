// Tests random placement problems that have one error each. Each problem must be refused with a message that names its
// error.
#include <catch2/catch.hpp>
#include <limits>

#include "base/error.hpp"
#include "placement/ways.hpp"
#include "support/campaign.hpp"
#include "support/random_placement.hpp"

namespace sluice {
namespace {

using Begins = PlacementProblem::Begins;
using Catch::Matchers::Contains;

/// Returns the exit code and the message with which a problem is refused.
std::string refusal(const PlacementProblem& problem) {
  try {
    const PlacementQuestion question(problem);
  } catch (const Error& error) {
    return std::to_string(error.exit_code()) + ": " + error.what();
  }
  return "accepted";
}

/// Returns a random problem that is not refused. Each tensor of such a problem is used by at least one kernel.
PlacementProblem some_problem(test::Dice& dice) {
  for (;;) {
    PlacementProblem problem = test::random_placement(
        dice, {.tensors = 2 + dice.below(10), .kernels = 2 + dice.below(12), .users = 5});
    problem.fast = "quick";
    problem.slow = "large";
    if (refusal(problem) == "accepted") return problem;
  }
}

/// Says where an operand is: the number of its kernel, and its own number among the operands of this kernel.
struct Place {
  std::size_t kernel, operand;
};

Place some_operand(test::Dice& dice, const PlacementProblem& problem) {
  for (;;) {
    const std::size_t k = dice.below(problem.kernels.size());
    const std::size_t count = problem.kernels[k].operands.size();
    if (count > 0) return {k, dice.below(count)};
  }
}

TEST_CASE(
    "an operand without a memory is refused, and the message names the kernel and, if there is one, the tensor",
    "[placement][property]") {
  test::Dice dice(2030);
  for (int n = 0; n < test::cases_of(200); ++n) {
    INFO("case " << n);
    PlacementProblem problem = some_problem(dice);
    const auto [k, o] = some_operand(dice, problem);
    const std::string kernel = "kernel '" + problem.kernels[k].name + "' (step " +
                               std::to_string(k + 1) + " of " +
                               std::to_string(problem.kernels.size()) + ")";
    PlacementProblem broken = problem;
    broken.kernels[k].operands[o].tensor = static_cast<std::uint32_t>(problem.tensors.size());
    CHECK_THAT(refusal(broken), Catch::StartsWith("3: " + kernel) &&
                                    Contains("there is no tensor with this number"));

    // In `problem`, a kernel makes the tensor. In `broken`, this kernel only reads it. So no kernel makes it.
    for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
      if (problem.tensors[t].begins != Begins::made) continue;
      broken = problem;
      bool done = false;
      for (auto& each : broken.kernels)
        for (auto& operand : each.operands)
          if (operand.tensor == t && !done) {
            operand.written = false;
            done = true;
          }
      CHECK_THAT(refusal(broken), Catch::StartsWith("3: kernel '") &&
                                      Contains("tensor '" + problem.tensors[t].name + "'") &&
                                      Contains("is not in any memory"));
    }
  }
}

TEST_CASE(
    "the refusal of a missing rate names both memories, and the refusal of too little memory names the kernel "
    "and the bytes",
    "[placement][property]") {
  test::Dice dice(2031);
  for (int n = 0; n < test::cases_of(200); ++n) {
    INFO("case " << n);
    const PlacementProblem problem = some_problem(dice);
    PlacementProblem broken = problem;
    const std::vector<double> none = {0, -1, std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::quiet_NaN()};
    (dice.one_in(2) ? broken.synchronous.to_fast : broken.synchronous.to_slow) =
        none[dice.below(none.size())];
    CHECK_THAT(refusal(broken), Catch::StartsWith("3: no rate is known for synchronous moves") &&
                                    Contains("'quick'") && Contains("'large'"));

    const PlacementQuestion question(problem);
    broken = problem;
    broken.slow_capacity = question.peak() - 1;
    if (question.peak() > 0) {
      const PlacementQuestion too_small(broken);
      const auto results = place_by_all(too_small, {0}, {"all_slow"}, 0);
      CHECK_THAT(results.front().refused, Contains("exceeds memory 'large' at kernel '") &&
                                              Contains("the largest tensors are "));
    }

    const std::size_t t = dice.below(problem.tensors.size());
    broken = problem;
    broken.tensors[t].pinned = PlacementProblem::Pinned::fast;
    const PlacementQuestion pinned(broken);
    CHECK_THROWS_WITH(
        optimum({.question = pinned, .capacity = broken.tensors[t].bytes - 1}),
        Contains("exceeds memory 'quick' at kernel '") && Contains(problem.tensors[t].name + " ("));
  }
}

}  // namespace
}  // namespace sluice
