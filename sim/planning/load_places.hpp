// Where the loads of a row of slots are listed: as early as each may be and a memory has room for
// it, also in the step before. What is there while each slot is executed alone is known before
// anything runs; each load that is placed takes its room. Bytes.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "planning/levels.hpp"

namespace sluice {

/// A load to be placed. Slots; < 0: of a step before.
struct LoadWish {
  std::int64_t bytes = 0;
  std::int64_t needed = 0;    ///< by this slot
  std::int64_t earliest = 0;  ///< it may be listed at the head of this one
  std::int64_t after = 0;     ///< it may start when this one has been computed
  /// Where there is room, it may start a slot before the one at whose head it is listed.
  bool within = false;
};

struct LoadPlace {
  std::int64_t at = 0;     ///< listed at the head of this slot
  std::int64_t after = 0;  ///< starts when this one has been computed
  auto operator<=>(const LoadPlace&) const = default;
};

/// Of one memory.
class LoadPlaces {
 public:
  /// `bytes`: by slot, what is there while it is executed alone. `capacity`; none: without limit.
  LoadPlaces(const std::vector<std::int64_t>& bytes, std::optional<std::int64_t> capacity)
      : levels_(bytes), count_(static_cast<std::int64_t>(bytes.size())), capacity_(capacity) {}

  /// Takes the room of a load from its place to the slot that needs it.
  LoadPlace add(const LoadWish& load);
  /// The most bytes in any slot, loads that come early included.
  std::int64_t most() const { return levels_.most(); }

 private:
  std::int64_t take(std::int64_t from, std::int64_t to, std::int64_t turn, std::int64_t bytes);

  Levels levels_;
  std::int64_t count_;
  std::optional<std::int64_t> capacity_;
};

}  // namespace sluice
