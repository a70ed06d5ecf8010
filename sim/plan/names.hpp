// Numbers by name, in the order of entry: what the names in a plan's text stand for. Millions of
// actions are entered and looked up, so that this is a flat table of views into the text.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace sluice {

class Names {
 public:
  static constexpr std::uint32_t unknown = 0xFFFFFFFF;

  /// Enters a name, which must outlive this; false: it is there already.
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
  const std::vector<std::string_view>& all() const { return names_; }

 private:
  struct Slot {
    std::uint32_t hash = 0, number = unknown;
  };
  static std::uint32_t hash_of(std::string_view name) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>()(name));
  }
  /// Where it is, or could be.
  std::size_t place_of(std::string_view name, std::uint32_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.number == unknown) return at;
      if (slot.hash == hash && names_[slot.number] == name) return at;
    }
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    const std::size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.number == unknown) continue;
      std::size_t at = slot.hash & mask;
      while (slots_[at].number != unknown) at = (at + 1) & mask;
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;  ///< a power of two of them, at most half full
  std::vector<std::string_view> names_;
};

}  // namespace sluice
