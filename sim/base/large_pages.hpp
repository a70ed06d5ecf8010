// Memory in large pages, for large arrays that are filled from the front. Small pages are slow: the system takes about
// as long to provide them as the program takes to fill the array. If the system has no large pages, small pages are
// used.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace sluice {

/// Asks for large pages for a block that was allocated elsewhere and will soon be filled completely.
void prefer_large_pages(const void* begin, std::size_t bytes);

/// Returns a block of memory. A block that fills at least half of a large page begins at the start of a large page. A
/// smaller block comes from `new`. Throws std::bad_alloc if there is not enough memory.
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
