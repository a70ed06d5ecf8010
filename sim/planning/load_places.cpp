#include "planning/load_places.hpp"

#include <algorithm>

namespace sluice {

/// Returns the earliest place of a load, from slot `from` on. The load needs room for its bytes in all slots from its
/// place to slot `to` - 1, and this function takes this room. In `levels_`, slot s has the index s + `turn`. So `turn`
/// is 0 for slots of this step. It is `count_` for slots of the step before, which have negative numbers.
std::int64_t LoadPlaces::take(std::int64_t from, std::int64_t to, std::int64_t turn,
                              std::int64_t bytes) {
  if (from >= to) return to;
  const auto slot = [&](std::int64_t at) { return static_cast<std::size_t>(at + turn); };
  std::int64_t at = from;
  if (capacity_)
    if (const auto full = levels_.last_above(slot(from), slot(to - 1), *capacity_ - bytes))
      at = static_cast<std::int64_t>(*full) + 1 - turn;
  if (at < to) levels_.add(slot(at), slot(to - 1), bytes);
  return at;
}

// The load is repeated in every step. If it came more than a whole step early, the memory would hold its bytes twice at
// the same time. So it comes at most one step early.
LoadPlace LoadPlaces::add(const LoadWish& load) {
  const std::int64_t earliest = std::max(load.earliest, -count_);
  LoadPlace place{take(std::max<std::int64_t>(earliest, 0), load.needed, 0, load.bytes),
                  load.after};
  if (place.at <= 0)
    place.at = take(earliest, std::min<std::int64_t>(place.at, 0), count_, load.bytes);
  if (!load.within || place.at <= 1 - count_) return place;
  const auto before = static_cast<std::size_t>((place.at - 1 + count_) % count_);
  if (capacity_ && levels_.last_above(before, before, *capacity_ - load.bytes)) return place;
  levels_.add(before, before, load.bytes);
  place.after = std::min(load.after, place.at - 2);
  return place;
}

}  // namespace sluice
