#include <catch2/catch.hpp>
#include <vector>

#include "fates/optimal/rounding.hpp"
#include "support/random_chain.hpp"

namespace sluice {
namespace {

TEST_CASE(
    "rounding: the tape of choices is empty if it does not fit, also when it is asked for again") {
  test::Dice dice(5);
  for (int round = 0; round < 50; ++round) {
    const std::size_t stages = 1 + dice.below(6);
    const Chain chain = test::random_chain(dice, stages);
    const auto budget = static_cast<std::int64_t>(dice.below(100 * stages));
    FittingTapes tapes(chain, budget);
    for (int choice = 0; choice < 20; ++choice) {
      const Choices choices =
          choices_of(chain, test::fates_number(dice.below(test::fates_count(stages)), stages));
      const Tape tape = tape_of(chain, choices);
      const bool fits = memory_of(chain, tape).peak <= budget;
      for (int time = 0; time < 2; ++time) CHECK(tapes.of(choices) == (fits ? tape : Tape()));
    }
  }
}

}  // namespace
}  // namespace sluice
