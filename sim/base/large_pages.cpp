#include "base/large_pages.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

namespace sluice {

namespace {
constexpr std::size_t page = std::size_t{1} << 21;
/// A block with fewer bytes would fill less than half of a large page. So it gets small pages.
constexpr std::size_t least = page / 2;
}  // namespace

void prefer_large_pages(const void* begin, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + page - 1) / page * page;
  const std::uintptr_t end = (address + bytes) / page * page;
  if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

void* large_block(std::size_t bytes) {
  if (bytes < least) return ::operator new(bytes);
  if (bytes > static_cast<std::size_t>(-1) - page) throw std::bad_alloc();
  const std::size_t whole = (bytes + page - 1) / page * page;
  void* const block = std::aligned_alloc(page, whole);
  if (!block) throw std::bad_alloc();
  prefer_large_pages(block, whole);
  return block;
}

void free_large_block(void* block, std::size_t bytes) noexcept {
  if (bytes < least)
    ::operator delete(block);
  else
    std::free(block);
}

}  // namespace sluice
