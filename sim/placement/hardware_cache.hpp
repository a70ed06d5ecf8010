// A direct-mapped hardware cache of slow memory, and the addresses of tensors in slow memory.
#pragma once

#include <cstdint>
#include <map>

namespace sluice {

/// The addresses of slow memory that no tensor has.
class FreeAddresses {
 public:
  /// Returns the lowest free address with `bytes` free bytes (first fit). These bytes are then not free any more.
  std::int64_t take(std::int64_t bytes);
  /// Makes bytes free that take() returned.
  void give_back(std::int64_t address, std::int64_t bytes);

 private:
  std::map<std::int64_t, std::int64_t>
      taken_;  ///< the ends of the pieces that are not free, by their first addresses
};

/// The content of the cache, byte by byte. Slow memory is divided into laps: pieces that are each as large as the
/// cache. The place of a byte in the cache is its distance from the beginning of its lap. So every lap
/// has one byte for each place. For each place, this class knows which lap's byte is in the cache.
class HardwareCache {
 public:
  explicit HardwareCache(std::int64_t size);

  struct Traffic {
    double hits = 0, misses = 0, written_back = 0;
  };
  /// Reads or writes these bytes through the cache. Adds the bytes of hits, misses and write-backs to `traffic`.
  void access(std::int64_t address, std::int64_t bytes, bool writes, Traffic& traffic);

  /// Removes the bytes of a tensor from the cache without writing them back.
  void drop(std::int64_t address, std::int64_t bytes);

 private:
  struct CachedLines {
    std::int64_t lap = -1;
    bool dirty = false;
  };
  void split(std::int64_t place);
  void touch(std::int64_t low, std::int64_t high, std::int64_t lap, bool writes, Traffic& traffic);

  std::int64_t size_;
  std::map<std::int64_t, CachedLines> lines_;  ///< each entry extends from its key to the next key
};

}  // namespace sluice
