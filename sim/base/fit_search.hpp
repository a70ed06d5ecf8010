// Searches for the largest number that fits: for example, the most samples that fit into a memory. The search makes few
// tests, because a test may be expensive. If a number does not fit, its test must say how much the number needs.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sluice {

/// The answer of a test: whether a number fits. If the number does not fit, `needed` exceeds
/// `available`. Both are 0 if the amounts are not known.
struct FitAnswer {
  bool fits = false;
  /// The needed and the available amount, in the same unit. Both are 0 if they are not known.
  double needed = 0, available = 0;
};

/// Chooses the next number to test. `good` is the largest tested number that fits, and `bad` is the smallest tested
/// number that does not fit. The next number lies between them. The need, FitAnswer::needed, is usually almost linear
/// in the number. So the need of one failed number gives a rough estimate of the largest number that fits. The needs of
/// two failed numbers give a good estimate. If estimates exclude too little of the range, the middle of the range is
/// tested. The search assumes that a smaller number always fits, too.
class FitSearch {
 public:
  /// Searches from 1 to `limit`. The first number to test is `first`.
  FitSearch(std::int64_t first, std::int64_t limit) : limit_(limit), next_(first) {}

  bool done() const { return bad() - good_ <= 1; }
  std::int64_t good() const { return good_; }  ///< the largest tested number that fits, or 0
  std::int64_t next() const { return next_; }

  void record_answer(const FitAnswer& answer);  ///< records the answer for the number next()

 private:
  struct RefusedNumber {
    double number = 0, needed = 0;
  };

  std::int64_t bad() const { return bad_ == 0 ? limit_ + 1 : bad_; }
  std::int64_t within(std::int64_t number) const {
    return std::min(std::max(number, good_ + 1), std::max(bad() - 1, good_ + 1));
  }
  void fitted();
  void refused(const FitAnswer& answer);

  std::int64_t limit_, next_;
  /// The largest tested number that fits, and the smallest tested number that does not fit. Each is 0 until such a
  /// number has been tested.
  std::int64_t good_ = 0, bad_ = 0;
  std::int64_t step_ = 1;  ///< the distance from a number that fits to the next number to test
  /// The number of slow guesses in a row, up to now. A slow guess is a tested number that did not fit and left more
  /// than half of the range.
  int slow_ = 0;
  RefusedNumber last_;
};

/// Returns the largest number from 1 to `limit` that fits. If none fits, returns 0. `ask(number)` returns a FitAnswer.
template <class Ask>
std::int64_t largest_by_needs(std::int64_t first, std::int64_t limit, Ask&& ask) {
  FitSearch search(std::clamp<std::int64_t>(first, 1, limit), limit);
  while (!search.done()) search.record_answer(ask(search.next()));
  return search.good();
}

}  // namespace sluice
