// Tests that arrays on large pages behave like ordinary arrays. Arrays that are too small for large pages are tested,
// too.
#include <catch2/catch.hpp>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>

#include "base/large_pages.hpp"

namespace sluice {
namespace {

TEST_CASE("a block of any size can be filled, and a large block begins at a large page", "[base]") {
  constexpr std::size_t page = std::size_t{1} << 21;
  for (const std::size_t bytes :
       {std::size_t{1}, page / 2 - 1, page / 2, page - 1, page, page + 1, 5 * page}) {
    auto* const block = static_cast<unsigned char*>(large_block(bytes));
    std::memset(block, 0xA5, bytes);
    CHECK(std::accumulate(block, block + bytes, std::uint64_t{0}) == 0xA5 * bytes);
    if (bytes >= page / 2) CHECK(reinterpret_cast<std::uintptr_t>(block) % page == 0);
    free_large_block(block, bytes);
  }
}

TEST_CASE("a vector on large pages keeps its elements while it grows", "[base]") {
  LargeVector<std::uint32_t> numbers;
  constexpr std::uint32_t count = 1'500'000;
  for (std::uint32_t i = 0; i < count; ++i) numbers.push_back(i);
  const LargeVector<std::uint32_t> copy = numbers;
  numbers.clear();
  numbers.shrink_to_fit();
  REQUIRE(copy.size() == count);
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < count; ++i) wrong += copy[i] != i;
  CHECK(wrong == 0);
}

TEST_CASE("the hint that an array should use large pages does not change its contents", "[base]") {
  std::string text(9'000'001, 'x');
  prefer_large_pages(text.data(), text.size());
  prefer_large_pages(text.data(), 10);
  prefer_large_pages(nullptr, 0);
  CHECK(text == std::string(9'000'001, 'x'));
}

TEST_CASE("a block larger than the address space is refused", "[base]") {
  CHECK_THROWS_AS(large_block(static_cast<std::size_t>(-1)), std::bad_alloc);
  CHECK_THROWS_AS(LargePages<double>().allocate(static_cast<std::size_t>(-1) / 4), std::bad_alloc);
}

}  // namespace
}  // namespace sluice
