// Tests where LoadPlaces lists loads. The places are compared with those of a search that goes from slot to slot.
#include <catch2/catch.hpp>

#include "planning/slots/load_places.hpp"
#include "support/random_chain.hpp"

namespace sluice {
namespace {

/// Finds places as LoadPlaces does, but looks at one slot at a time.
struct PlacesSlotBySlot {
  std::vector<std::int64_t> bytes;
  std::optional<std::int64_t> capacity;

  std::int64_t count() const { return static_cast<std::int64_t>(bytes.size()); }
  /// The slots of the previous step are the same as those of this step.
  std::int64_t& level(std::int64_t slot) {
    return bytes[static_cast<std::size_t>((slot + count()) % count())];
  }
  bool has_room(std::int64_t slot, const LoadWish& load) {
    return !capacity || level(slot) + load.bytes <= *capacity;
  }

  LoadPlace add(const LoadWish& load) {
    LoadPlace place{load.needed, load.after};
    for (const std::int64_t first : {std::int64_t{0}, -count()}) {
      const std::int64_t end = place.at, earliest = std::max(load.earliest, first);
      if (first < 0 && end > 0) break;
      while (place.at > earliest && has_room(place.at - 1, load)) --place.at;
      for (std::int64_t slot = place.at; slot < end; ++slot) level(slot) += load.bytes;
    }
    if (!load.within || place.at <= 1 - count() || !has_room(place.at - 1, load)) return place;
    level(place.at - 1) += load.bytes;
    place.after = std::min(load.after, place.at - 2);
    return place;
  }
};

TEST_CASE("loads have the places that a search from slot to slot finds", "[unit]") {
  test::Dice dice(57);
  int early = 0, in_step_before = 0, sooner = 0;
  for (int k = 0; k < 400; ++k) {
    std::vector<std::int64_t> bytes(1 + dice.below(k % 2 == 0 ? 12 : 150));
    for (std::int64_t& level : bytes) level = static_cast<std::int64_t>(dice.below(100));
    std::optional<std::int64_t> capacity;
    if (!dice.one_in(5)) capacity = 100 + static_cast<std::int64_t>(dice.below(400));
    LoadPlaces places(bytes, capacity);
    PlacesSlotBySlot plain{bytes, capacity};
    for (int i = 0; i < 30; ++i) {
      const auto needed = static_cast<std::int64_t>(dice.below(bytes.size()));
      const auto back = static_cast<std::int64_t>(dice.below(2 * bytes.size() + 2));
      const LoadWish load{.bytes = static_cast<std::int64_t>(dice.below(60)),
                          .needed = needed,
                          .earliest = needed - (dice.one_in(3) ? back / 8 : back),
                          .after = needed - back - 1,
                          .within = dice.one_in(2)};
      const LoadPlace place = places.add(load);
      CHECK(place == plain.add(load));
      CHECK(places.most() == *std::max_element(plain.bytes.begin(), plain.bytes.end()));
      early += place.at < needed;
      in_step_before += place.at < 0;
      sooner += place.after < load.after;
    }
  }
  CHECK(early > 1'000);
  CHECK(in_step_before > 200);
  CHECK(sooner > 100);
}

}  // namespace
}  // namespace sluice
