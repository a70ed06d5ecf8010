#include "base/gap.hpp"

#include <catch2/catch.hpp>

namespace sluice {
namespace {

TEST_CASE("a gap is the difference between a result and its bound, as a share of the result") {
  CHECK(gap_of(10, 8) == Approx(0.2));
  CHECK(gap_of(-10, -12) == Approx(0.2));
  CHECK(gap_of(10, 10) == 0);
  CHECK(gap_of(10, 11) == 0);
  CHECK(gap_of(0, 0) == 0);
}

}  // namespace
}  // namespace sluice
