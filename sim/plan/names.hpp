// Gives each name in a plan's text a number: the names are numbered in the order in which they are added. A plan may
// have millions of names. So the class must be fast: it is a flat hash table, and does not copy the names.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/large_pages.hpp"

namespace sluice {

/// Returns whether two names are equal. Most names are short, and then these comparisons are faster than a call of the
/// C library.
inline bool same_name(std::string_view a, std::string_view b) {
  const std::size_t size = a.size();
  if (size != b.size()) return false;
  const auto same = [&]<class Bytes>(Bytes, std::size_t at) {
    Bytes x, y;
    std::memcpy(&x, a.data() + at, sizeof x);
    std::memcpy(&y, b.data() + at, sizeof y);
    return x == y;
  };
  if (size > 16) return a == b;
  if (size >= 8) return same(std::uint64_t(), 0) && same(std::uint64_t(), size - 8);
  if (size >= 4) return same(std::uint32_t(), 0) && same(std::uint32_t(), size - 4);
  for (std::size_t i = 0; i < size; ++i)
    if (a[i] != b[i]) return false;
  return true;
}

class Names {
 public:
  static constexpr std::uint32_t unknown = 0xFFFFFFFF;

  /// Adds a name. The text of the name must live longer than this object. Returns false if the name exists already.
  bool add(std::string_view name) {
    if (2 * (names_.size() + 1) > slots_.size()) grow();
    const std::uint32_t hash = hash_of(name);
    Slot& slot = slots_[place_of(name, hash)];
    if (slot.number != unknown) return false;
    slot = {hash, static_cast<std::uint32_t>(names_.size())};
    names_.push_back(name);
    return true;
  }
  std::uint32_t find(std::string_view name) const {
    return slots_.empty() ? unknown : slots_[place_of(name, hash_of(name))].number;
  }
  const LargeVector<std::string_view>& all() const { return names_; }

 private:
  struct Slot {
    std::uint32_t hash = 0, number = unknown;
  };
  /// Names that differ only in their last digit get neighbouring places in the table. Such names are often looked up
  /// one after the other, and neighbouring places make this fast.
  static std::uint32_t hash_of(std::string_view name) {
    if (name.empty()) return 0;
    const std::string_view front = name.substr(0, name.size() - 1);
    std::uint64_t hash = name.size();
    const auto mix = [&hash](std::uint64_t bytes) {
      hash = (hash ^ bytes) * 0x9E3779B97F4A7C15U;
      hash ^= hash >> 32;
    };
    std::size_t at = 0;
    for (; at + 8 <= front.size(); at += 8) mix(bytes_of<std::uint64_t>(front, at));
    std::uint64_t rest = 0;
    if (at + 4 <= front.size()) rest = bytes_of<std::uint32_t>(front, std::exchange(at, at + 4));
    for (; at < front.size(); ++at) rest = rest << 8 | static_cast<unsigned char>(front[at]);
    mix(rest);
    const auto last = static_cast<unsigned char>(name.back());
    mix(last / neighbours);
    return (static_cast<std::uint32_t>(hash) & ~(neighbours - 1)) | (last & (neighbours - 1));
  }
  template <class Bytes>
  static Bytes bytes_of(std::string_view text, std::size_t at) {
    Bytes bytes;
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    return bytes;
  }
  /// Returns the place of the name in the table. If the table does not have the name, returns the free place where the
  /// name would go.
  std::size_t place_of(std::string_view name, std::uint32_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.number == unknown) return at;
      if (slot.hash == hash && same_name(names_[slot.number], name)) return at;
    }
  }
  void grow() {
    LargeVector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    const std::size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.number == unknown) continue;
      std::size_t at = slot.hash & mask;
      while (slots_[at].number != unknown) at = (at + 1) & mask;
      slots_[at] = slot;
    }
  }

  static constexpr std::uint32_t neighbours = 16;

  /// The places of the table. The number of places is a power of two, and at most half of the places are used.
  LargeVector<Slot> slots_;
  LargeVector<std::string_view> names_;
};

}  // namespace sluice
