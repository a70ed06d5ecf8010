// Tests the search for the largest number that fits. The search tries only a few numbers. It must give the same answer
// as a search that tries every number.
#include <catch2/catch.hpp>
#include <random>

#include "base/fit_search.hpp"
#include "support/campaign.hpp"

namespace sluice {
namespace {

/// Returns the answer for `number` samples, which need `constant` + `each` x `number` bytes.
FitAnswer line(std::int64_t number, double constant, double each, double available) {
  const double needed = constant + each * static_cast<double>(number);
  return {needed <= available, needed > available ? needed : 0, available};
}

TEST_CASE(
    "if every sample needs equally many bytes, the search finds the largest number after the second refusal") {
  // 1000 bytes are available, and n samples need 100 + 7 x n bytes. Since (1000 - 100) / 7 = 128.57, 128 samples fit.
  // The search first tries 1, 2, 6, 22, 86 and 342 samples. The 342 samples are refused: they need 2494 bytes, which
  // are 7.29 bytes per sample. At 7.29 bytes per sample, 137 samples would fit. The search tries 137 samples, which are
  // refused, too. From the two refusals, it computes 100 and 7. So it tries 128 samples, which fit, and 129 samples,
  // which do not fit.
  std::vector<std::int64_t> asked;
  const auto most = largest_by_needs(1, 1'000'000, [&](std::int64_t number) {
    asked.push_back(number);
    return line(number, 100, 7, 1000);
  });
  CHECK(most == 128);
  CHECK(asked == std::vector<std::int64_t>{1, 2, 6, 22, 86, 342, 137, 128, 129});
}

TEST_CASE("if the first guess is the largest number that fits, the search tests only two numbers") {
  int asked = 0;
  const auto ask = [&](std::int64_t number) {
    ++asked;
    return line(number, 0, 15, 10'000);
  };
  CHECK(largest_by_needs(666, 1'000'000'000'000, ask) == 666);
  CHECK(asked == 2);
  asked = 0;
  CHECK(largest_by_needs(1'000'000'000, 1'000'000'000'000, ask) == 666);
  CHECK(asked == 3);
}

TEST_CASE(
    "the search is right if no sample fits, if all samples fit, and if the limit is one sample, which fits") {
  CHECK(largest_by_needs(5, 100, [](std::int64_t) { return FitAnswer{}; }) == 0);
  CHECK(largest_by_needs(5, 100, [](std::int64_t) { return FitAnswer{true, 0, 0}; }) == 100);
  CHECK(largest_by_needs(5, 1, [](std::int64_t) { return FitAnswer{true, 0, 0}; }) == 1);
  CHECK(largest_by_needs(1, 1'000'000'000'000, [](std::int64_t) {
          return FitAnswer{true, 0, 0};
        }) == 1'000'000'000'000);
}

TEST_CASE(
    "for any need that grows with the number, the search finds the same number as a search over every number",
    "[property]") {
  std::mt19937_64 random(7);
  const auto up_to = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  for (int i = 0; i < test::cases_of(2000); ++i) {
    const std::int64_t limit = 1 + up_to(3000);
    std::vector<double> needs(static_cast<std::size_t>(limit) + 1, 0);
    // If `kind` is 0, no refusal says how many bytes are needed. If `kind` is 1, every refusal says it. If `kind` is 2,
    // some refusals say it. If `kind` is 3, every refusal says a wrong number.
    const std::int64_t kind = up_to(3);
    double slope = static_cast<double>(up_to(9));
    for (std::size_t n = 1; n < needs.size(); ++n) {
      if (up_to(200) == 0) slope = static_cast<double>(up_to(50));
      needs[n] = needs[n - 1] + slope + static_cast<double>(up_to(1));
    }
    const double available =
        1 + static_cast<double>(up_to(static_cast<std::int64_t>(needs.back() * 1.1)));
    std::int64_t right = 0;
    while (right < limit && needs[static_cast<std::size_t>(right) + 1] <= available) ++right;
    int asked = 0;
    const auto most = largest_by_needs(1 + up_to(limit), limit, [&](std::int64_t number) {
      REQUIRE((number >= 1 && number <= limit));
      ++asked;
      const double needed = needs[static_cast<std::size_t>(number)];
      if (needed <= available) return FitAnswer{true, 0, 0};
      const bool told = kind == 1 || kind == 3 || (kind == 2 && up_to(1) == 0);
      if (!told) return FitAnswer{};
      return FitAnswer{false, kind == 3 ? available + 1 + static_cast<double>(up_to(999)) : needed,
                       available};
    });
    CAPTURE(i, limit, kind, available);
    REQUIRE(most == right);
    REQUIRE(asked <= 60);
  }
}

}  // namespace
}  // namespace sluice
