// Tests statistics of repeated measurements. The comments show how each expected number is computed.
#include <catch2/catch.hpp>

#include <cmath>

#include "profile/merge.hpp"
#include "profile/statistics.hpp"

using namespace sluice;

TEST_CASE("Median, quantiles, MAD and standard deviation equal the numbers of a hand calculation") {
  // The numbers 1 2 3 4 10 have the mean 4. The squares of their deviations from the mean add up to 9 + 4 + 1 + 0 + 36
  // = 50. So the variance is 50 / 4. The median of the numbers is 3. The distances of the numbers from 3 are 2 1 0 1 7.
  // The median of these distances is 1. It is called the MAD.
  const Spread spread = spread_of({10, 1, 4, 2, 3});
  CHECK(spread.n == 5);
  CHECK(spread.mean == 4);
  CHECK(spread.std == Approx(std::sqrt(12.5)).epsilon(1e-15));
  CHECK(spread.median == 3);
  CHECK(spread.mad == 1);
  CHECK(spread.outliers == 1);  // 10 is 7 above the median, more than 3 x 1.4826 x the MAD
  CHECK(spread.dropped == 0);   // 10 is 6 above the mean, less than 3 times the std of 3.54
  CHECK(spread.mean_within == 4);
  CHECK(spread.disagreement() == Approx(1.0 / 3));
  CHECK(spread.least == 1);
  CHECK(spread.most == 10);
  CHECK(median_of({4, 1, 3, 2}) == 2.5);
  CHECK(quantile_of({0, 10, 20, 30}, 0.1) == Approx(3));
  CHECK(quantile_of({0, 10, 20, 30}, 1) == 30);
}

TEST_CASE(
    "The mean within 3 standard deviations leaves out all numbers that are farther from "
    "the mean") {
  // There are 20 numbers: 19 ones, and 101. Their mean is 6. The squares of their deviations add up to 19 x 25 + 95^2 =
  // 9500. So the standard deviation is sqrt(9500 / 19) = 22.36. The number 101 deviates by 95, which is more than 3 x
  // 22.36 = 67.1. So 101 is left out.
  std::vector<double> numbers(19, 1);
  numbers.push_back(101);
  const Spread spread = spread_of(numbers);
  CHECK(spread.dropped == 1);
  CHECK(spread.mean_within == 1);
  CHECK(spread.mad == 0);
  CHECK(spread.outliers == 1);
  CHECK(spread_of({5, 5, 5}).outliers == 0);
  CHECK(spread_of({0.1, 0.1, 0.1}).mean_within == Approx(0.1));
  CHECK(spread_of({7}).std == 0);
}

TEST_CASE(
    "Pooled statistics equal the statistics of both series together, whether or not the samples are known") {
  Statistics a, b;
  a.samples = {1, 2, 3};
  b.samples = {5, 9};
  a.derive();
  b.derive();
  const Statistics whole = pooled(a, b);  // 1 2 3 5 9: mean 4, squared deviations 9 + 4 + 1 + 1 + 25 = 40
  CHECK(*whole.n == 5);
  CHECK(*whole.mean == 4);
  CHECK(*whole.median == 3);
  CHECK(*whole.std == Approx(std::sqrt(10.0)));
  a.samples.clear();
  const Statistics moments = pooled(a, b);
  CHECK(*moments.n == 5);
  CHECK(*moments.mean == Approx(4));
  CHECK(*moments.std == Approx(std::sqrt(10.0)));
  CHECK_FALSE(moments.median);  // the median is not known
  CHECK(*pooled({}, b).mean == 7);
}
