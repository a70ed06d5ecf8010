#include "base/fit_search.hpp"

#include <cmath>

namespace sluice {

namespace {

/// A guess is a tested number that did not fit. A slow guess excludes less than half of the range. The search accepts
/// this many slow guesses in a row. After one more slow guess, it tests the middle of the range.
constexpr int patience = 2;

}  // namespace

void FitSearch::record_answer(const FitAnswer& answer) {
  if (answer.fits)
    fitted();
  else
    refused(answer);
}

/// Handles a number that fits. The next number to test is this number + `step_`, but at most the middle between this
/// number and the smallest number that does not fit. Each number that fits makes `step_` greater.
void FitSearch::fitted() {
  good_ = next_;
  const std::int64_t most = bad_ == 0 ? limit_ : good_ + (bad_ - good_) / 2;
  next_ = within(good_ > most - step_ ? most : good_ + step_);
  if (step_ < limit_ / 4) step_ *= 4;
}

/// Handles a number that does not fit. Draws a line through the needs of the last two numbers that did not fit. The
/// next number to test is the number at which this line reaches the available amount. After a single failure, the line
/// goes through zero and through the need of the failed number.
void FitSearch::refused(const FitAnswer& answer) {
  const bool slow = bad_ != 0 && next_ - good_ > (bad_ - good_) / 2;
  slow_ = slow ? slow_ + 1 : 0;
  bad_ = next_;
  step_ = 1;
  const RefusedNumber here{static_cast<double>(bad_), answer.needed};
  const RefusedNumber before = last_;
  last_ = here;
  const bool known = answer.needed > answer.available;
  if (!known || slow_ > patience) {
    next_ = within(good_ + (bad_ - good_) / 2);
    return;
  }
  const bool two = before.number > here.number && before.needed > here.needed;
  const double each = two ? (before.needed - here.needed) / (before.number - here.number)
                          : here.needed / here.number;
  const double about = here.number - (here.needed - answer.available) / each;
  next_ = within(static_cast<std::int64_t>(std::floor(std::max(0.0, about) + 1e-6)));
}

}  // namespace sluice
