// A plan whose tensors are all in the second memories of the devices. Each first memory is a direct-mapped hardware
// cache of the second memory (cached_memory.hpp). The sizes of the caches are chosen: some sizes have fewer misses than
// larger sizes.
//
// If a tensor is sent between two devices that have the same second memory, it stays in their first memories beside the
// caches (placed_kinds.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "planning/placement/turns/cached_memory.hpp"

namespace sluice {

/// The sizes of all caches: one for each first memory.
using CacheSizes = std::vector<std::int64_t>;

class CachedTurns {
 public:
  /// Both arguments must outlive the object. Throws InputError if a hardware cache has no rates for a second memory.
  CachedTurns(PlacedPrices& prices, const PlacedKinds& placed);

  /// Returns the sets of sizes to try, the largest first. They do not depend on the capacity of a memory. For up to two
  /// caches, each cache has any size from a list of 17 sizes. For more caches, these lists are shorter, because all
  /// combinations are tried. In addition, all caches have the same size, or as much of it as they have addresses.
  std::vector<CacheSizes> sizes() const;
  /// Returns whether each cache fits into its first memory.
  bool fit(const CacheSizes& sizes) const;

  /// Returns a lower bound of the seconds of the plan with these caches.
  double at_least(const CacheSizes& sizes) const;
  /// Returns the plan with the seconds that its computations take with these caches, but without the caches.
  /// add_caches() adds the caches to the first memories, and says how many bytes their hits and misses have.
  Plan plan(const CacheSizes& sizes) const;
  void add_caches(Plan& plan, const CacheSizes& sizes) const;

  /// Returns the seconds of each computation in a round, indexed by action. They are 0 for transfers.
  std::vector<double> kernel_seconds(const CacheSizes& sizes) const;
  /// Returns what happens in a round at the cache with this number, if it has this size.
  const CachedMemory::Round& round(std::size_t cache, std::int64_t bytes) const;

 private:
  PlacedPrices& prices_;
  const PlacedKinds& placed_;
  Plan plan_;
  std::vector<CachedMemory> memories_;
  std::vector<StageWork> works_;                                             ///< indexed by action
  mutable std::vector<std::map<std::int64_t, CachedMemory::Round>> rounds_;  ///< by cache and size
};

}  // namespace sluice
