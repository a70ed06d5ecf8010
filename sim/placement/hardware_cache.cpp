#include "placement/hardware_cache.hpp"

#include <algorithm>
#include <iterator>

namespace sluice {

// A piece without bytes needs no place in the list.
std::int64_t FreeAddresses::take(std::int64_t bytes) {
  std::int64_t low = 0;
  for (const auto& [first, end] : taken_) {
    if (first - low >= bytes) break;
    low = end;
  }
  if (bytes > 0) taken_[low] = low + bytes;
  return low;
}

void FreeAddresses::give_back(std::int64_t address, std::int64_t bytes) {
  if (bytes > 0) taken_.erase(address);
}

HardwareCache::HardwareCache(std::int64_t size) : size_(size) {
  if (size_ > 0) lines_[0] = {};
}

void HardwareCache::access(std::int64_t address, std::int64_t bytes, bool writes,
                           Traffic& traffic) {
  if (size_ == 0) {
    traffic.misses += static_cast<double>(bytes);
    if (writes) traffic.written_back += static_cast<double>(bytes);
    return;
  }
  for (int whole_laps = 0; bytes > 0;) {
    const std::int64_t place = address % size_, lap = address / size_;
    const std::int64_t part = std::min(bytes, size_ - place);
    touch(place, place + part, lap, writes, traffic);
    address += part;
    bytes -= part;
    // An access may go over several complete laps. Each of them replaces the whole content of the cache. So from the
    // second complete lap on, each complete lap has the same misses and write-backs, and they need not be looked at
    // one by one.
    if (part == size_ && ++whole_laps == 2 && bytes >= 2 * size_) {
      const std::int64_t skipped = (bytes / size_ - 1) * size_;
      traffic.misses += static_cast<double>(skipped);
      if (writes) traffic.written_back += static_cast<double>(skipped);
      address += skipped;
      bytes -= skipped;
    }
  }
}

void HardwareCache::drop(std::int64_t address, std::int64_t bytes) {
  if (size_ == 0 || bytes == 0) return;
  const std::int64_t end = address + bytes;
  split(address % size_);
  split(end % size_);
  for (auto& [place, line] : lines_) {
    const std::int64_t held = line.lap * size_ + place;
    if (line.lap >= 0 && held >= address && held < end) line = {};
  }
}

void HardwareCache::split(std::int64_t place) {
  if (place >= size_) return;
  const auto after = lines_.upper_bound(place);
  const auto at = std::prev(after);
  if (at->first != place) lines_.emplace_hint(after, place, at->second);
}

void HardwareCache::touch(std::int64_t low, std::int64_t high, std::int64_t lap, bool writes,
                          Traffic& traffic) {
  split(low);
  split(high);
  bool dirty = true;  // whether the previous piece in the loop is dirty
  bool uniform = true, any = false;
  auto at = lines_.find(low);
  while (at != lines_.end() && at->first < high) {
    const auto after = std::next(at);
    const auto bytes =
        static_cast<double>((after == lines_.end() ? size_ : after->first) - at->first);
    CachedLines& cached = at->second;
    if (cached.lap == lap) {
      traffic.hits += bytes;
    } else {
      traffic.misses += bytes;
      if (cached.dirty) traffic.written_back += bytes;
      cached = {.lap = lap};
    }
    cached.dirty |= writes;
    if (any && cached.dirty != dirty) uniform = false;
    dirty = cached.dirty;
    any = true;
    at = after;
  }
  if (uniform) {
    lines_.erase(lines_.upper_bound(low), lines_.lower_bound(high));
    lines_[low] = {lap, dirty};
  }
}

}  // namespace sluice
