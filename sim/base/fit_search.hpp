// The most that fits, where an answer costs much and says how much too much it was.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sluice {

/// Whether a number fits and, where it does not and that is known, what it needs of what there is.
struct FitAnswer {
  bool fits = false;
  double needed = 0, available = 0;  ///< needed > available; both 0: not known
};

/// Which number to ask next, of those above the largest that fits and below the smallest that does
/// not. What is needed mostly grows by the same amount with each further one: one number that does
/// not fit says nearly where the limit is, and two say it. Where that does not get on, the middle
/// is asked. It is assumed that whatever is less fits, too.
class FitSearch {
 public:
  /// From 1 to `limit`; the first question is about `first`.
  FitSearch(std::int64_t first, std::int64_t limit) : limit_(limit), next_(first) {}

  bool done() const { return bad() - good_ <= 1; }
  std::int64_t good() const { return good_; }  ///< the largest that fits; 0: none
  std::int64_t next() const { return next_; }

  void said(const FitAnswer& answer);  ///< of next()

 private:
  struct Refused {
    double number = 0, needed = 0;
  };

  std::int64_t bad() const { return bad_ == 0 ? limit_ + 1 : bad_; }
  std::int64_t within(std::int64_t number) const {
    return std::min(std::max(number, good_ + 1), std::max(bad() - 1, good_ + 1));
  }
  void fitted();
  void refused(const FitAnswer& answer);

  std::int64_t limit_, next_;
  std::int64_t good_ = 0, bad_ = 0;  ///< 0: none is known
  std::int64_t step_ = 1;            ///< to the next one above what fits
  int slow_ = 0;                     ///< guesses that left more than half of what there was
  Refused last_;
};

/// The largest number from 1 to `limit` that fits, 0 where none does. `ask` returns a FitAnswer.
template <class Ask>
std::int64_t most_by_needs(std::int64_t first, std::int64_t limit, Ask&& ask) {
  FitSearch search(std::clamp<std::int64_t>(first, 1, limit), limit);
  while (!search.done()) search.said(ask(search.next()));
  return search.good();
}

}  // namespace sluice
