// Searches for the largest number that fits. It is for tests that are expensive, and that say how much was needed when
// they fail.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sluice {

/// Says whether a number fits. If it does not fit, `needed` exceeds `available`. Both are 0 if they are not
/// known.
struct FitAnswer {
  bool fits = false;
  double needed = 0, available = 0;  ///< needed > available; both 0: not known
};

/// Chooses the next number to test, between the largest that fits and the smallest that does not. The need mostly grows
/// by the same amount per unit. So one number that does not fit says roughly where the limit is, and two say it
/// precisely. If these guesses make no progress, the middle is tested. The search assumes that every number below one
/// that fits also fits.
class FitSearch {
 public:
  /// Searches from 1 to `limit`, and tests `first` first.
  FitSearch(std::int64_t first, std::int64_t limit) : limit_(limit), next_(first) {}

  bool done() const { return bad() - good_ <= 1; }
  std::int64_t good() const { return good_; }  ///< the largest that fits; 0: none
  std::int64_t next() const { return next_; }

  void record_answer(const FitAnswer& answer);  ///< takes the answer for next()

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
  std::int64_t good_ = 0, bad_ = 0;  ///< 0: none is known yet
  std::int64_t step_ = 1;            ///< from the largest that fits to the next number to test
  int slow_ = 0;                     ///< consecutive guesses that left more than half of the range
  RefusedNumber last_;
};

/// Returns the largest number from 1 to `limit` that fits, or 0 if none does. `ask` returns a FitAnswer.
template <class Ask>
std::int64_t largest_by_needs(std::int64_t first, std::int64_t limit, Ask&& ask) {
  FitSearch search(std::clamp<std::int64_t>(first, 1, limit), limit);
  while (!search.done()) search.record_answer(ask(search.next()));
  return search.good();
}

}  // namespace sluice
