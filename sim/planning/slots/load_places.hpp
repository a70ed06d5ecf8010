// Decides where loads are listed: before which slot of a step (step_slots.hpp). A load is listed as early as its limits
// and the room in memory allow. It may even be listed in the step before. For each slot, it is known how many bytes are
// in memory without early loads. A load whose place has been found adds its bytes to the slots from its place to the
// slot that needs it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "planning/slots/levels.hpp"

namespace sluice {

/// A load whose place is to be found, with its limits. A slot with a negative number belongs to the step before.
struct LoadWish {
  std::int64_t bytes = 0;
  std::int64_t needed = 0;    ///< the slot that needs the load
  std::int64_t earliest = 0;  ///< the first slot before which the load may be listed
  std::int64_t after = 0;     ///< the load may start when this slot has been computed
  /// If true, the load may start one slot earlier than its place in the listing, if the memory has room for it.
  bool within = false;
};

struct LoadPlace {
  std::int64_t at = 0;     ///< the slot before which the load is listed
  std::int64_t after = 0;  ///< the load starts when this slot has been computed
  auto operator<=>(const LoadPlace&) const = default;
};

/// Finds the places of all loads into one memory.
class LoadPlaces {
 public:
  /// `bytes[s]` is the number of bytes in memory during slot s without any early load. If
  /// `capacity` is empty, the memory is unlimited.
  LoadPlaces(const std::vector<std::int64_t>& bytes, std::optional<std::int64_t> capacity)
      : levels_(bytes), count_(static_cast<std::int64_t>(bytes.size())), capacity_(capacity) {}

  /// Returns the place of a load, and counts the bytes of the load as occupied: from this place to the slot that needs
  /// the load.
  LoadPlace add(const LoadWish& load);
  /// Returns the greatest number of bytes in any slot, including the bytes of early loads.
  std::int64_t most() const { return levels_.most(); }

 private:
  std::int64_t earliest(std::int64_t from, std::int64_t to, std::int64_t turn,
                        std::int64_t bytes) const;
  void take(std::int64_t from, std::int64_t to, std::int64_t turn, std::int64_t bytes);

  Levels levels_;
  std::int64_t count_;
  std::optional<std::int64_t> capacity_;
};

}  // namespace sluice
