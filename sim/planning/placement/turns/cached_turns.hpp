// A plan whose tensors are all in the second memory of the device, and whose first memory is a direct-mapped hardware
// cache of the second memory. The hits, misses and write-backs of the cache follow from the order in which the plan lists
// its actions (placement/hardware_cache.hpp).
//
// When a tensor arrives or is made, it gets the lowest free addresses. It keeps them until its last use. Transfers do not
// use the cache: a load writes the second memory, and the cache then holds nothing of the loaded tensor. A computation
// uses each of its tensors once: it first reads tensors, and then writes tensors.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/cached.hpp"
#include "placement/hardware_cache.hpp"
#include "planning/placement/turns/placed_kinds.hpp"

namespace sluice {

class CachedTurns {
 public:
  /// Both arguments must outlive the object. Throws InputError if a hardware cache has no rates for the second memory.
  CachedTurns(PlacedPrices& prices, const PlacedKinds& placed);

  /// Returns the sizes of caches to try: sixteenths of the addresses that tensors have. They do not depend on the
  /// capacity of a memory.
  std::vector<std::int64_t> sizes() const;

  /// A round of the plan, which is an iteration of its body, with a cache of a given size. The seconds are indexed by
  /// action of the plan. They are 0 for transfers.
  CachedRun round(std::int64_t cache_bytes) const;
  /// Returns a lower bound of the seconds of the plan with these rounds.
  double at_least(const CachedRun& round) const;
  /// Returns the plan with these rounds, but without the cache. add_cache() adds the cache to the first memory, and
  /// says how many bytes its hits and misses have.
  Plan plan(const CachedRun& round) const;
  void add_cache(Plan& plan, const CachedRun& round, std::int64_t cache_bytes) const;

 private:
  /// What an action does with bytes of the second memory. When a tensor arrives, the cache loses what it held of these
  /// addresses.
  struct Use {
    enum class Kind : std::uint8_t { arrives, read, written } kind = Kind::arrives;
    std::uint32_t action = none;
    std::int64_t address = 0, bytes = 0;
  };
  using Uses = std::vector<Use>;
  class Recorder;

  void run(const Uses& uses, HardwareCache& cache, std::vector<HardwareCache::Traffic>& of) const;
  /// Returns how many rounds of the plan follow the rounds in `rounds_` and the last whole repetition of a period.
  std::size_t rest() const;

  PlacedPrices& prices_;
  Plan plan_;
  std::uint32_t first_pool_;
  PlacementProblem::Rates rates_;
  double least_s_ = 0;
  std::int64_t span_ = 0;  ///< the number of addresses
  Uses before_, after_;    ///< the uses in the prologue, and in the epilogue
  /// The uses in each round of the body. Rounds that follow the last element repeat the last `period_` elements.
  std::vector<Uses> rounds_;
  std::size_t period_ = 1;
};

}  // namespace sluice
