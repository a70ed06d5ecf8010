// Tests which values of `ahead` streamed inference tries.
#include <catch2/catch.hpp>

#include "planning/streaming/ahead_values.hpp"

namespace sluice {
namespace {

using Values = std::vector<std::int64_t>;

/// Returns a case with `count` groups whose weights take `bytes` bytes each.
StreamedCase groups_of(std::int64_t bytes, std::size_t count) {
  StreamedCase streamed;
  streamed.groups.resize(count);
  for (StreamedCase::Group& group : streamed.groups) group.bytes.weights = bytes;
  return streamed;
}

TEST_CASE("weights are loaded ahead in equal steps, and by a group if a step is larger") {
  const StreamedChoice choice;
  // A replay takes long, so there are four steps. A quarter of 800 bytes is two groups.
  CHECK(ahead_values(groups_of(100, 8), choice, true, {}) ==
        Values{0, 50, 100, 200, 400, 600, 800});
  // A quarter of 200 bytes is half a group.
  CHECK(ahead_values(groups_of(100, 2), choice, true, {}) == Values{0, 50, 100, 150, 200});
  // Without a replay, there are 32 steps, so with 32 groups, a step is a group. With 64 groups, it is two groups.
  CHECK(ahead_values(groups_of(100, 32), choice, false, {}).size() == 33);
  CHECK(ahead_values(groups_of(100, 64), choice, false, {}).size() == 35);
}

TEST_CASE("no more is loaded ahead than the scenario says") {
  const StreamedChoice choice;
  CHECK(ahead_values(groups_of(100, 8), choice, true, 130) == Values{0, 50, 100, 130});
  CHECK(ahead_values(groups_of(100, 8), choice, true, 0) == Values{0});
  CHECK(ahead_values(groups_of(100, 8), choice, true, 900) ==
        Values{0, 50, 100, 200, 400, 600, 800});
}

TEST_CASE("weights that stay are never loaded ahead") {
  StreamedChoice choice;
  choice.resident = {100, 100, 100, 100, 100, 60, 0, 0};
  // 240 bytes of three groups take turns. There are two steps of 120 bytes, and the largest group has 100 bytes.
  CHECK(ahead_values(groups_of(100, 8), choice, false, {}) == Values{0, 50, 100, 120, 240});
}

TEST_CASE("nothing is loaded ahead if there is one group, or no overlap") {
  CHECK(ahead_values(groups_of(100, 1), {}, false, {}) == Values{0});
  StreamedCase streamed = groups_of(100, 8);
  streamed.overlap = false;
  CHECK(ahead_values(streamed, {}, false, {}) == Values{0});
}

}  // namespace
}  // namespace sluice
