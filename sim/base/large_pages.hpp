// Large arrays that are filled from the front: getting their memory in small pages takes about as
// long as filling it. Large pages are asked for under them; where the system does not give any,
// nothing is different.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace sluice {

/// For a block that somebody else has made and is about to fill as a whole.
void prefer_large_pages(const void* begin, std::size_t bytes);

/// A block that begins at a large page where it is as large as one; else as `new` makes it. Throws
/// bad_alloc.
void* large_block(std::size_t bytes);
void free_large_block(void* block, std::size_t bytes) noexcept;

template <class T>
struct LargePages {
  using value_type = T;
  LargePages() = default;
  template <class Other>
  LargePages(const LargePages<Other>&) noexcept {}
  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(large_block(count * sizeof(T)));
  }
  void deallocate(T* place, std::size_t count) noexcept {
    free_large_block(place, count * sizeof(T));
  }
  bool operator==(const LargePages&) const = default;
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace sluice
