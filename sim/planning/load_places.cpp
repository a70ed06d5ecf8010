#include "planning/load_places.hpp"

#include <algorithm>

namespace sluice {

/// The load needs room in all slots from its place to `to` - 1. Finds its earliest place, from `from` on. Takes the
/// room and returns the place. In levels_, slot s has the index s + `turn`.
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

// Every step repeats the load. A load more than a whole step early would hold memory for two of its executions at the
// same time.
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
