// Tests the class Levels. It stores how many bytes of a memory are in use in each slot. (A slot is the computation of
// one micro-batch in one group.) Its answers are compared with those of a plain vector of numbers.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "planning/slots/levels.hpp"
#include "support/random_chain.hpp"

namespace sluice {
namespace {

TEST_CASE("levels find the same last slot above a limit as a plain vector of numbers") {
  test::Dice dice(7);
  for (int k = 0; k < 200; ++k) {
    std::vector<std::int64_t> plain(1 + dice.below(k % 2 == 0 ? 40 : 400));
    for (std::int64_t& bytes : plain) bytes = static_cast<std::int64_t>(dice.below(100));
    Levels levels(plain);
    for (int i = 0; i < 60; ++i) {
      std::size_t first = dice.below(plain.size()), last = dice.below(plain.size());
      if (last < first) std::swap(first, last);
      const auto bytes = static_cast<std::int64_t>(dice.below(50));
      if (dice.one_in(2)) {
        levels.add(first, last, bytes);
        for (std::size_t slot = first; slot <= last; ++slot) plain[slot] += bytes;
      }
      const auto limit = static_cast<std::int64_t>(dice.below(400));
      std::optional<std::size_t> found;
      for (std::size_t slot = first; slot <= last; ++slot)
        if (plain[slot] > limit) found = slot;
      CHECK(levels.last_above(first, last, limit) == found);
    }
  }
}

TEST_CASE("more bytes in a slot than 2^63 - 1 are refused") {
  Levels levels({std::int64_t{1} << 62, 5});
  levels.add(0, 1, (std::int64_t{1} << 62) - 1);
  CHECK_THROWS_AS(levels.add(0, 0, 1), InputError);
}

}  // namespace
}  // namespace sluice
