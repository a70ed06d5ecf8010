#include "planning/slots/load_places.hpp"

#include <algorithm>

namespace sluice {

/// Returns the earliest place of a load, from slot `from` on. The load needs room for its bytes in all slots from its
/// place to slot `to` - 1. In `levels_`, slot s has the index s + `turn`. So `turn` is 0 for slots of this step. It is
/// `count_` for slots of the step before, which have negative numbers.
std::int64_t LoadPlaces::earliest(std::int64_t from, std::int64_t to, std::int64_t turn,
                                  std::int64_t bytes) const {
  if (from >= to) return to;
  if (!capacity_) return from;
  const auto full = levels_.last_above(static_cast<std::size_t>(from + turn),
                                       static_cast<std::size_t>(to - 1 + turn), *capacity_ - bytes);
  return full ? static_cast<std::int64_t>(*full) + 1 - turn : from;
}

/// Takes room for the bytes in all slots from `from` to `to` - 1.
void LoadPlaces::take(std::int64_t from, std::int64_t to, std::int64_t turn, std::int64_t bytes) {
  if (from < to)
    levels_.add(static_cast<std::size_t>(from + turn), static_cast<std::size_t>(to - 1 + turn),
                bytes);
}

// The load is repeated in every step. If it came more than a whole step early, the memory would hold its bytes twice at
// the same time. So it comes at most one step early.
LoadPlace LoadPlaces::add(const LoadWish& load) {
  if (capacity_ && *capacity_ <= 0 && load.bytes > 0) return {load.needed, load.after};
  const std::int64_t first = std::max(load.earliest, -count_);
  LoadPlace place{earliest(std::max<std::int64_t>(first, 0), load.needed, 0, load.bytes),
                  load.after};
  // If the load starts one slot earlier, this slot belongs to the same step. So room is taken only once.
  if (place.at > 0) {
    const bool sooner = load.within && earliest(place.at - 1, place.at, 0, load.bytes) < place.at;
    take(sooner ? place.at - 1 : place.at, load.needed, 0, load.bytes);
    if (sooner) place.after = std::min(load.after, place.at - 2);
    return place;
  }
  take(place.at, load.needed, 0, load.bytes);
  const std::int64_t end = place.at;
  place.at = earliest(first, end, count_, load.bytes);
  take(place.at, end, count_, load.bytes);
  if (!load.within || place.at <= 1 - count_) return place;
  const std::int64_t before = (place.at - 1 + count_) % count_;
  if (earliest(before, before + 1, 0, load.bytes) > before) return place;
  take(before, before + 1, 0, load.bytes);
  place.after = std::min(load.after, place.at - 2);
  return place;
}

}  // namespace sluice
