// The second memory of a device, if the first memory is a direct-mapped hardware cache of it. The hits, misses and
// write-backs of the cache follow from the order in which a plan lists its actions (placement/hardware_cache.hpp).
//
// When a tensor arrives or is made, it gets the lowest free addresses. It keeps them until its last use. Transfers do
// not use the cache: a load, or a transfer from another device, writes the second memory, and the cache then holds
// nothing of the tensor. So do the pieces with which replicas sum gradients. A computation uses each of its tensors
// once: it first reads tensors, and then writes tensors.
//
// Each first memory has its own addresses. If two devices have the same second memory, the tensors of each device are
// in a part of this memory of their own. A tensor that a computation of another device reads in no time (under phased,
// with `activations: on_chip`) is read through the cache behind which it was made. So no byte is in two caches.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/cached.hpp"
#include "placement/hardware_cache.hpp"
#include "planning/placement/turns/placed_kinds.hpp"

namespace sluice {

class CachedMemory {
 public:
  /// `device` is an index in PlacedPrices::devices(). All devices with the same first memory use the same cache.
  /// `prices` and `placed` must outlive the object. Throws InputError if a hardware cache has no rates for the second
  /// memory.
  CachedMemory(PlacedPrices& prices, const PlacedKinds& placed, std::size_t device = 0);

  /// Returns the sizes of caches to try: the number of addresses that tensors have, divided into equal shares. They do
  /// not depend on the capacity of a memory.
  std::vector<std::int64_t> sizes(std::int64_t shares = most_shares) const;
  static constexpr std::int64_t most_shares = 16;
  /// Returns the number of addresses. A larger cache has the same hits and misses.
  std::int64_t addresses() const { return span_; }

  /// What happens in a round of the plan, which is an iteration of its body.
  struct Round : CacheBytes {
    std::vector<double> misses_s;  ///< the seconds of misses and write-backs, indexed by action
  };
  Round round(std::int64_t cache_bytes) const;

  /// The first memory, as a pool of the plan.
  std::uint32_t first_pool() const { return first_pool_; }

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
  /// Returns whether the action is a computation of a device with this first memory.
  bool computes_here(const Action& action) const {
    return !action.is_transfer() && here_[action.stream] != 0;
  }

  PlacedPrices& prices_;
  const PlacedKinds& placed_;
  const Plan& plan_;  ///< the plan of the policy, with all tensors of devices in the first memories
  std::uint32_t first_pool_;
  std::vector<char>
      here_;  ///< whether the stream belongs to a device with this first memory, indexed by stream
  PlacementProblem::Rates rates_;
  std::int64_t span_ = 0;  ///< the number of addresses
  Uses before_, after_;    ///< the uses in the prologue, and in the epilogue
  /// The uses in each round of the body. Rounds that follow the last element repeat the last `period_` elements.
  std::vector<Uses> rounds_;
  std::size_t period_ = 1;
};

}  // namespace sluice
